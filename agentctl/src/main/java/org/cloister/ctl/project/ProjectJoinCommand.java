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
                + "it. Compare the project's id with an owner over another channel, or give it with --id. An owner "
                + "needs no invitation: without FILE the owner's key certifies itself for each --role and signs the "
                + "profile; without --role the profile has no certificate.")
final class ProjectJoinCommand implements Callable<Integer> {
    /** Letters of the project's id that are the label by default. */
    private static final int LABEL = 8;

    @Parameters(
            paramLabel = "FILE",
            arity = "0..1",
            description = "The invitation, written by agentctl project member or invite; an owner omits it.")
    private @Nullable Path file;

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
    private OwnDeviceOptions own;

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
        if (file == null) {
            Instant now = Instant.now();
            OwnDeviceOptions.OwnInvitation signed = own.sign(keys, now);
            return join(signed.envelope().toByteArray(), before -> signed.key(), now);
        }
        own.requireNone();
        byte[] envelope = Pem.readBounded(file, ProjectInvitation.MAX_BYTES);
        try {
            return join(envelope, before -> keys.readPublicKey(() -> before), Instant.now());
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    /** Public half of the person's key. */
    @FunctionalInterface
    private interface OwnKey {
        /**
         * Returns the key.
         *
         * @param usual location of the key in the profile; null if there is no profile
         */
        VerificationKey get(@Nullable KeyLocation usual) throws IOException;
    }

    private Integer join(byte[] envelope, OwnKey key, Instant now) throws IOException {
        ProfileStore store = ProfileOption.storeOf(spec);
        String project = ProjectInvitation.read(envelope).owners().id();
        Optional<ProjectProfile> before = store.find(project);
        KeyLocation usual = before.map(ProjectProfile::key).orElse(null);
        String name = label == null ? before.map(ProjectProfile::label).orElse(project.substring(0, LABEL)) : label;
        ProjectProfile next = ProjectProfile.of(name, absolute(keys.location(() -> usual)), envelope);
        PersonCertificate person = JoinDecision.requireAccepted(next, before, id, key.get(usual), now)
                .orElse(null);
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
                throw new IOException("label: want one that no other project has, have " + next.label()
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
