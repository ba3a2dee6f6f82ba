package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.cloister.base.encoding.MalformedException;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.key.KeyLocation;
import org.cloister.ctl.key.Pem;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.opening.SignedPolicy;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.OutputOption;
import org.cloister.ctl.profile.ProfileOption;
import org.cloister.ctl.profile.ProfileStore;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.ProjectInvitation;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code agentctl project join}: makes an owner's invitation this device's profile of the project. */
@Command(
        name = "join",
        description = "Verifies an invitation from an owner and stores it as this device's profile of the project, "
                + "from which other commands have their options. A later invitation of the same project replaces "
                + "it. Compare the project's id with an owner over another channel, or give it with --id.")
final class ProjectJoinCommand implements Callable<Integer> {
    /** Letters of the project's id that are the label by default. */
    private static final int LABEL = 8;

    @Parameters(paramLabel = "FILE", description = "The invitation, written by agentctl project member or invite.")
    @SuppressWarnings("NullAway.Init")
    private Path file;

    @Option(
            names = "--id",
            paramLabel = "PROJECT",
            description = "The project's id as an owner told it; another project's invitation is refused.")
    private @Nullable String id;

    @Option(
            names = "--label",
            paramLabel = "NAME",
            description = "Your own short name for the project; default: the former one, or the first "
                    + "letters of the id.")
    private @Nullable String label;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private OutputOption output;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        byte[] envelope = Pem.readBounded(file, ProjectInvitation.MAX_BYTES);
        ProfileStore store = ProfileOption.storeOf(spec);
        ProjectProfile next;
        Optional<ProjectProfile> before;
        PersonCertificate person;
        try {
            String project = ProjectInvitation.read(envelope).owners().id();
            before = store.find(project);
            KeyLocation usual = before.map(ProjectProfile::key).orElse(null);
            String name = label == null ? before.map(ProjectProfile::label).orElse(project.substring(0, LABEL)) : label;
            next = ProjectProfile.of(name, absolute(keys.location(() -> usual)), envelope);
            VerificationKey own = keys.readPublicKey(() -> usual);
            person = JoinDecision.requireAccepted(next, before, id, own, Instant.now())
                    .orElse(null);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
        requireOwnLabel(store, next);
        store.write(next);
        output.print(facts(store, next, person));
        return ExitCode.OK.code();
    }

    private static KeyLocation absolute(KeyLocation key) {
        return key instanceof KeyLocation.File location
                ? new KeyLocation.File(location.path().toAbsolutePath().normalize())
                : key;
    }

    private static void requireOwnLabel(ProfileStore store, ProjectProfile next) throws IOException {
        for (ProjectProfile other : store.readAll()) {
            if (other.label().equals(next.label()) && !other.id().equals(next.id())) {
                throw new MalformedException("label: want one that no other project has, have " + next.label()
                        + ", which is that of " + other.id() + "; name another with --label");
            }
        }
    }

    private static KeyValueOutput facts(ProfileStore store, ProjectProfile next, @Nullable PersonCertificate person)
            throws IOException {
        KeyValueOutput facts = new KeyValueOutput().with("project", next.id()).with("label", next.label());
        next.owners().owners().owners().forEach(owner -> facts.with("owner " + owner.id(), owner.key()));
        if (person != null) {
            facts.with("person", person.id())
                    .with("roles", EnumSet.copyOf(person.roles()))
                    .with("until", person.notAfter());
        }
        return facts.with("key", next.key())
                .with("relay", next.relay())
                .with("policy", SignedPolicy.claimedSerial(next.policy()))
                .with("profile", store.file(next.id()));
    }
}
