package org.cloister.lab.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoPageTest {
    @Test
    void has_all_that_was_seen_as_text_and_nothing_of_it_as_markup(@TempDir Path folder) throws IOException {
        DemoPage page = new DemoPage(
                "job 1: <b>",
                JobTimeline.of("boot=2.500", 3, 4),
                List.of(new DemoClaims.Claim("a claim", "seen & \"said\"")),
                List.of(new DemoPage.Fact("when", "now")));
        Path file = folder.resolve("demo").resolve("index.html");
        page.write(file);
        assertThat(Files.readString(file))
                .contains("job 1: &lt;b&gt;", "seen &amp; &quot;said&quot;", "<th scope=\"row\">when", "2.5 s")
                .doesNotContainPattern("\\{[a-z]+\\}");
    }
}
