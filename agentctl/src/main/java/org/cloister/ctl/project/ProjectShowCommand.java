package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.profile.ProfileOption;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.ProjectOwners;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.policy.ProjectPolicy;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code agentctl project show}: prints the owners of a project. */
@Command(
        name = "show",
        description = "Verifies a project's documents and prints its id, owners and threshold; or a policy, with its "
                + "hosts, images, limits and signers.")
final class ProjectShowCommand implements Callable<Integer> {
    /** Warning time before a list expires: an owner may be away for a weekend. */
    private static final Duration SOON = Duration.ofDays(2);

    @Parameters(
            paramLabel = "FILE",
            arity = "1..*",
            description = "The genesis, then the successor documents in order, then a policy if it is to be shown; "
                    + "a policy alone on a device that joined the project. Exits with 1 if fewer owners than the "
                    + "threshold have signed the policy.")
    @SuppressWarnings("NullAway.Init")
    private List<Path> files;

    @Option(
            names = "--list",
            paramLabel = "FILE",
            description = "An owner's revocation list; may be given more than once. Prints until when it is "
                    + "valid; exits with 1 if that is less than 2 days.")
    private List<Path> lists = List.of();

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Path last = files.get(files.size() - 1);
        DsseEnvelope envelope =
                ProjectDocumentFiles.read(last, document -> DsseEnvelope.parse(document, ProjectPolicy.MAX_BYTES));
        return envelope.payloadType().equals(ProjectPolicy.TYPE)
                ? showPolicy(last, envelope, files.subList(0, files.size() - 1))
                : showProject(ProjectDocumentFiles.readHistory(files));
    }

    /** Prints a policy that one owner or more have signed, and which of them. */
    private int showPolicy(Path file, DsseEnvelope envelope, List<Path> history) throws IOException {
        if (!lists.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "--list: want a project's documents alone beside it, have a policy");
        }
        ProjectPolicy policy = ProjectDocumentFiles.parsePolicy(file.toString(), envelope.unverifiedPayload());
        ProjectHistory project = history.isEmpty() ? joined(file, policy) : ProjectDocumentFiles.readHistory(history);
        if (!policy.project().equals(project.id())) {
            throw new MalformedException(file + ": project: want " + project.id() + ", have " + policy.project());
        }
        Set<VerificationKey> signers = envelope.signers(ProjectPolicy.TYPE, project.ownerKeys());
        if (signers.isEmpty()) {
            throw new MalformedException(
                    file + ": want a policy that an owner signed, have one that no owner did; do not use it");
        }
        int threshold = project.owners().threshold();
        List<String> names = project.owners().owners().stream()
                .filter(owner -> signers.contains(owner.key()))
                .map(ProjectOwners.Owner::id)
                .toList();
        boolean few = signers.size() < threshold;
        output.print(PolicyFacts.of(policy)
                .with(
                        "signed by",
                        String.join(", ", names) + "; "
                                + (few ? "want " + threshold + ": agentctl project sign" : "enough")));
        return (few ? ExitCode.WARNING : ExitCode.OK).code();
    }

    private ProjectHistory joined(Path policy, ProjectPolicy claimed) throws IOException {
        return ProfileOption.storeOf(spec)
                .find(claimed.project())
                .map(ProjectProfile::owners)
                .orElseThrow(() -> new IOException(policy + ": want the project's documents before it, or a device "
                        + "that joined " + claimed.project() + "; agentctl project show GENESIS " + policy));
    }

    private int showProject(ProjectHistory project) throws IOException {
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
