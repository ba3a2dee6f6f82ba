package org.cloister.lab.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The bound of a VM's journal, in which every user of the VM writes, in the image's setting and in the documents. */
class GuestJournalDocumentTest {
    private static final Path ROOT = Path.of(System.getProperty("cloister.root", ".."));
    private static final Path SETTING =
            ROOT.resolve("packaging/image/base/files/etc/systemd/journald.conf.d/cloister.conf");

    private static List<String> journalRows(String page) throws IOException {
        return Files.readAllLines(ROOT.resolve("docs").resolve(page)).stream()
                .filter(line -> line.startsWith("| journal |") || line.startsWith("| VM: journal |"))
                .toList();
    }

    @Test
    void it_is_in_ram_and_as_large_as_the_documents_say() throws IOException {
        String setting = Files.readString(SETTING);
        Matcher size =
                Pattern.compile("^RuntimeMaxUse=([0-9]+)M$", Pattern.MULTILINE).matcher(setting);
        assertThat(size.results().map(MatchResult::group).toList()).hasSize(1);
        assertThat(size.reset().find()).isTrue();
        assertThat(setting).contains("\nStorage=volatile\n");
        for (String page : List.of("threat-model.md", "bounds.md")) {
            assertThat(journalRows(page)).as(page).singleElement().asString().contains(size.group(1) + " MiB");
        }
    }
}
