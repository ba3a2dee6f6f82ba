package org.cloister.vm.controller.unlock;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProjectDocumentsFolderTest {
    @TempDir
    private Path folder;

    @Test
    void papers_that_the_drive_has_need_no_new_file() throws Exception {
        ProjectDocuments documents = new ControllerUnlockFixture().unlocked().documents();
        ProjectDocumentsFolder kept = new ProjectDocumentsFolder(folder);
        kept.write(documents);
        // As on a drive that has no file left to give.
        Files.createDirectories(folder.resolve("policy.new/occupied"));
        kept.write(documents);
        assertThat(kept.read())
                .get()
                .extracting(ProjectDocuments::policyEnvelope)
                .isEqualTo(documents.policyEnvelope());
    }
}
