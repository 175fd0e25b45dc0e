import java.net.URI;
import java.net.http.*;
import java.util.UUID;
import java.util.regex.Pattern;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/** The service in a container. Start it before all tests, and call check and stop after them. */
class Understudy extends GenericContainer<Understudy> {
  private final String token = UUID.randomUUID().toString();

  Understudy() {
    super("ghcr.io/dmarc-understudy/dmarc-understudy:0.1.0");
    withExposedPorts(4010);
    withEnv("DMARC_UNDERSTUDY_ADMIN_TOKEN", token);
    waitingFor(Wait.forHttp("/__admin/ready").forPort(4010));
  }

  String baseUrl() {
    return origin() + "/api/v1";
  }

  /** A key of a new account. Each test has its own, so tests can run at the same time. */
  String createKey() throws Exception {
    return text(control("POST", "/accounts", "{\"fixture\": \"empty\"}"), "api_key");
  }

  /** Throws if a request violated the contract. */
  void check() throws Exception {
    var verdict = control("GET", "/verdict", "");
    if (!verdict.contains("\"passed\":true")) throw new AssertionError(text(verdict, "message"));
  }

  /** Asks the control plane, and returns its answer. */
  String control(String method, String path, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(origin() + "/__admin" + path))
        .header("Authorization", "Bearer " + token).header("Content-Type", "application/json")
        .method(method, HttpRequest.BodyPublishers.ofString(body)).build();
    var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() >= 300) throw new AssertionError(response.body());
    return response.body();
  }

  private String origin() {
    return "http://" + getHost() + ":" + getMappedPort(4010);
  }

  /** The first text of that name; a real test has a parser of JSON. */
  private static String text(String json, String name) {
    var match = Pattern.compile("\"" + name + "\"\\s*:\\s*\"((?:[^\"\\\\]|\\\\.)*)\"").matcher(json);
    if (!match.find()) throw new AssertionError("There is no text " + name + " in " + json);
    return match.group(1);
  }
}
