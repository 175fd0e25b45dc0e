import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;

class ClientTest {
  static final Map<String, String> environment = System.getenv();

  static String call(String method, String key, String body) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(environment.get("UNDERSTUDY_BASE_URL") + "/domains"))
        .header("Authorization", "Bearer " + key)
        .header("Content-Type", "application/json")
        .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
        .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
  }

  static void require(boolean holds, String message) {
    if (!holds) throw new AssertionError(message);
  }

  public static void main(String[] arguments) throws Exception {
    var field = environment.getOrDefault("SENDS", "domains");
    for (var name : new String[] {"one", "two", "three"}) {
      call("POST", "sandbox_" + name, "{\"" + field + "\": [\"" + name + ".example\"]}");
      var listed = call("GET", "sandbox_" + name, "");
      require(environment.containsKey("SENDS") || listed.contains(name + ".example"), listed);
    }
    var read = call("GET", environment.get("UNDERSTUDY_API_KEY"), "");
    require(read.contains("\"success\":true") != environment.containsKey("FAILS"), read);
  }
}
