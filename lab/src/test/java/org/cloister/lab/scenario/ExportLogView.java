package org.cloister.lab.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.cloister.lab.LabCommand;
import org.cloister.lab.project.MemberDevice;
import org.cloister.lab.project.ProjectFixture;

/** The project's log of what was taken out, as any member reads it. */
record ExportLogView(ProjectFixture project, MemberDevice reader) {
    /**
     * When the first member has taken {@code out.txt}.
     *
     * @param copy an empty folder
     */
    void assertHolds(Path copy) throws IOException {
        // As docs/members.md has it.
        Path archive = Files.writeString(
                copy.resolve("exports.tar"), reader.runSsh("cd /project && tar c exports/*.jsonl exports/*.pem"));
        LabCommand.of("tar", "-x", "-C", copy.toString(), "-f", archive.toString())
                .succeed();
        String log = copy.resolve("exports").toString();
        String genesis = project.site().parties().genesis().toString();
        LabCommand.Output verified = project.first
                .agentctl(ProjectFixture.words("audit", "verify", log, "--project", genesis))
                .run();
        assertThat(verified.exit()).as(verified.toString()).isZero();
        assertThat(project.first
                        .agentctl(ProjectFixture.words("audit", "show", log))
                        .succeed())
                .containsPattern("export\\.opened .*path=\\S*out\\.txt ")
                .containsPattern("login=" + ProjectFixture.LOGIN + " ")
                .containsPattern("person=p1\\.exporter\\.");
    }
}
