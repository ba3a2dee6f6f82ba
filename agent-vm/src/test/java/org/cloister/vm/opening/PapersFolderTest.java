package org.cloister.vm.opening;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PapersFolderTest {
    @TempDir
    private Path folder;

    @Test
    void papers_that_the_drive_has_need_no_new_file() throws Exception {
        Papers papers = new OpeningWorld().unlocked().papers();
        PapersFolder kept = new PapersFolder(folder);
        kept.write(papers);
        // As on a drive that has no file left to give.
        Files.createDirectories(folder.resolve("policy.new/occupied"));
        kept.write(papers);
        assertThat(kept.read()).get().extracting(Papers::envelope).isEqualTo(papers.envelope());
    }
}
