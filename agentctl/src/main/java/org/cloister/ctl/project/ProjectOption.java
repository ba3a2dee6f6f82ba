package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.cloister.protocol.identity.ProjectHistory;
import picocli.CommandLine.Option;

/** Option that selects a project by its documents. */
public final class ProjectOption {
    @Option(
            names = "--project",
            paramLabel = "FILE",
            required = true,
            description = "The project's genesis, then its successor documents in order.")
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private List<Path> history;

    /**
     * Adds the same option to a command line.
     *
     * @param arguments the list to which the words are added, valid in any working directory
     */
    public void addArguments(List<String> arguments) {
        for (Path each : history) {
            arguments.add("--project");
            arguments.add(each.toAbsolutePath().toString());
        }
    }

    public ProjectHistory readHistory() throws IOException {
        return readHistory(history);
    }

    /**
     * Reads and verifies a project's documents.
     *
     * @param documents files in the order of the option
     */
    public static ProjectHistory readHistory(List<Path> documents) throws IOException {
        return ProjectDocumentFiles.readHistory(documents);
    }
}
