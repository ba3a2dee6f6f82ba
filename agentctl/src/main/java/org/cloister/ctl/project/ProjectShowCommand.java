package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.Facts;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.ProjectHistory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code agentctl project show}: who owns a project. */
@Command(name = "show", description = "Verifies a project's documents and prints its id, owners and threshold.")
final class ProjectShowCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "FILE",
            arity = "1..*",
            description = "The genesis, then the successor documents in order.")
    @SuppressWarnings("NullAway.Init")
    private List<Path> history;

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ProjectHistory project = Documents.history(history);
        Facts facts = new Facts()
                .with("project", project.id())
                .with("number", project.number())
                .with("threshold", project.owners().threshold());
        project.owners().owners().forEach(owner -> facts.with("owner " + owner.id(), owner.key()));
        output.print(facts);
        return ExitCode.OK.code();
    }
}
