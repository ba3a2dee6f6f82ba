package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.cloister.protocol.identity.ProjectHistory;
import picocli.CommandLine.Option;

/** Which project, by its documents. */
public final class ProjectOption {
    @Option(
            names = "--project",
            paramLabel = "FILE",
            required = true,
            description = "The project's genesis, then its successor documents in order.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private List<Path> history;

    /** @param words to which the same option is added, whatever folder they are used in */
    public void addArguments(List<String> words) {
        for (Path each : history) {
            words.add("--project");
            words.add(each.toAbsolutePath().toString());
        }
    }

    public ProjectHistory readHistory() throws IOException {
        return readHistory(history);
    }

    /** @param documents as the option takes them */
    public static ProjectHistory readHistory(List<Path> documents) throws IOException {
        return ProjectDocumentFiles.readHistory(documents);
    }
}
