package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationList;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code agentctl project show}: prints the owners of a project. */
@Command(name = "show", description = "Verifies a project's documents and prints its id, owners and threshold.")
final class ProjectShowCommand implements Callable<Integer> {
    /** Warning time before a list expires: an owner may be away for a weekend. */
    private static final Duration SOON = Duration.ofDays(2);

    @Parameters(
            paramLabel = "FILE",
            arity = "1..*",
            description = "The genesis, then the successor documents in order.")
    @SuppressWarnings("NullAway.Init")
    private List<Path> history;

    @Option(
            names = "--list",
            paramLabel = "FILE",
            description = "An owner's revocation list; may be given more than once. Prints until when it is "
                    + "valid; exits with 1 if that is less than 2 days.")
    private List<Path> lists = List.of();

    @Mixin
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private OutputOption output;

    @Override
    public Integer call() throws IOException {
        ProjectHistory project = ProjectDocumentFiles.readHistory(history);
        KeyValueOutput facts = new KeyValueOutput()
                .with("project", project.id())
                .with("number", project.number())
                .with("threshold", project.owners().threshold());
        project.owners().owners().forEach(owner -> facts.with("owner " + owner.id(), owner.key()));
        Instant now = Instant.now();
        boolean late = false;
        for (Path file : lists) {
            RevocationList list = ProjectDocumentFiles.readRevocationList(file, project.ownerKeys());
            late |= now.plus(SOON).isAfter(list.nextUpdate());
            facts.with(
                    "list of " + owner(project, list),
                    "number " + list.number() + ", revokes " + list.serials().size() + ", " + validityText(list, now));
        }
        output.print(facts);
        return (late ? ExitCode.WARNING : ExitCode.OK).code();
    }

    private static String validityText(RevocationList list, Instant now) {
        if (now.isAfter(list.nextUpdate())) {
            return "ended " + list.nextUpdate()
                    + ": this owner's certificates are refused; agentctl project revoke renews the list";
        }
        return "until " + list.nextUpdate()
                + (now.plus(SOON).isAfter(list.nextUpdate()) ? ": agentctl project revoke renews the list" : "");
    }

    private static String owner(ProjectHistory project, RevocationList list) {
        return project.owners().owners().stream()
                .filter(each -> each.key().equals(list.anchor()))
                .findFirst()
                .orElseThrow()
                .id();
    }
}
