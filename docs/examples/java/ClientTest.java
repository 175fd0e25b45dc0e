import java.net.URI;
import java.net.http.*;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.*;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** One server for all tests, and one account for each test. Runs with: java ClientTest.java */
class ClientTest {
  static final HttpClient HTTP = HttpClient.newHttpClient();
  static String baseUrl, adminUrl;

  interface Test { void run(Account account) throws Exception; }

  record Account(String key, String control) {
    static Account create() throws Exception {
      var made = send("POST", adminUrl + "/accounts", "", "{\"fixture\": \"empty\"}").body();
      return new Account(text(made, "api_key"), adminUrl + "/accounts/" + text(made, "id"));
    }
  }

  public static void main(String[] arguments) throws Exception {
    // Under run, vary and explore, which judge the requests themselves.
    boolean joins = System.getenv("UNDERSTUDY_ADMIN_URL") != null;
    baseUrl = System.getenv("UNDERSTUDY_BASE_URL");
    adminUrl = System.getenv("UNDERSTUDY_ADMIN_URL");
    if (!joins) start();
    for (var test : List.<Test>of(ClientTest::addsADomain, ClientTest::hearsThatItAsksTooOften)) {
      test.run(Account.create());
    }
    if (joins) return;
    var verdict = send("GET", adminUrl + "/verdict", "", "").body();
    check(verdict.contains("\"passed\":true"), text(verdict, "message"));
  }

  static void start() throws Exception {
    var ready = Files.createTempDirectory("understudy-").resolve("ready.json");
    var server = new ProcessBuilder("npx", "--no", "dmarc-understudy", "serve", "--port", "0", "--exit-with",
        Long.toString(ProcessHandle.current().pid()), "--log-level", "warn", "--ready-file", ready.toString())
        .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    for (long end = System.nanoTime() + 30_000_000_000L; !Files.exists(ready);) {
      check(System.nanoTime() < end, "The server is not ready after 30 s.");
      check(!server.waitFor(50, TimeUnit.MILLISECONDS), "The server ended.");
    }
    baseUrl = text(Files.readString(ready), "base_url");
    adminUrl = text(Files.readString(ready), "admin_url");
  }

  static void addsADomain(Account account) throws Exception {
    send("POST", baseUrl + "/domains", account.key, "{\"domains\": [\"shop.example\"]}");
    var list = send("GET", baseUrl + "/domains", account.key, "");
    check(list.body().contains("[\"shop.example\"]"), list.body());
  }

  static void hearsThatItAsksTooOften(Account account) throws Exception {
    send("POST", account.control + "/faults", "",
        "{\"match\": {\"operation\": \"addDomains\"}, \"respond\": {\"error\": \"rate_limited\"}, \"times\": 1}");
    var refusal = send("POST", baseUrl + "/domains", account.key, "{\"domains\": [\"shop.example\"]}");
    check(refusal.statusCode() == 429 && text(refusal.body(), "code").equals("rate_limited"), refusal.body());
  }

  /** Stands for the client that you test. */
  static HttpResponse<String> send(String method, String url, String key, String body) throws Exception {
    return HTTP.send(HttpRequest.newBuilder(URI.create(url)).header("Authorization", "Bearer " + key)
        .header("Content-Type", "application/json").method(method, HttpRequest.BodyPublishers.ofString(body)).build(),
        BodyHandlers.ofString());
  }

  /** The first text of that name; a real client has a parser of JSON. */
  static String text(String json, String name) {
    var match = Pattern.compile("\"" + name + "\"\\s*:\\s*\"([^\"]*)\"").matcher(json);
    check(match.find(), "There is no text " + name + " in " + json);
    return match.group(1);
  }

  static void check(boolean holds, String message) {
    if (!holds) throw new AssertionError(message);
  }
}
