package org.cloister.ctl.opening;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.cloister.ctl.circuit.RelayLinkOptions;
import org.cloister.ctl.drive.DriveKeyOptions;
import org.cloister.ctl.drive.DriveKeySealer;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.ctl.project.CertificateIssuer;
import org.cloister.ctl.project.PersonLogin;
import org.cloister.ctl.project.ProjectOption;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options for the appraisal of a controlling VM and for what it is given. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
final class UnlockOptions {
    private static final int MTU = 1500;

    @Option(
            names = "--no-unlock",
            description = "Only open: the VM is neither appraised nor unlocked, and ends after a time limit.")
    private boolean skipped;

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            description = "The project policy by which the VM is appraised, signed by the threshold of "
                    + "owners; it is stored, and is the default from then on, until a profile has a newer one.")
    private @Nullable Path policy;

    @Option(
            names = "--certificate",
            paramLabel = "FILE",
            description = "The opener's certificate, written by agentctl project member, whose key (--key) "
                    + "certifies the VM; default: the profile's; an owner without one omits it.")
    private @Nullable Path certificate;

    @Option(
            names = "--state",
            paramLabel = "DIR",
            description = "Folder where this device stores the policy, the drives' envelopes and its record "
                    + "of unlocks; default: the folder of --epoch-file's default.")
    private @Nullable Path state;

    @Option(
            names = "--mtu",
            paramLabel = "BYTES",
            description = "The MTU of the site's network between VMs; default: that of the drive's first opening "
                    + "on this device, or " + MTU + ".")
    private @Nullable Integer mtu;

    @Option(
            names = "--boot-time",
            paramLabel = "SECONDS",
            defaultValue = "600",
            description = "Time limit for the VM's evidence, and again for its drive to open; default: "
                    + "${DEFAULT-VALUE}.")
    private int seconds;

    @Mixin
    private SigningKeyOptions keys;

    /** The person with the opened key, which is asked for once; null until it is needed. */
    private @Nullable CertificateIssuer opened;

    @Mixin
    private DriveKeyOptions drive;

    @Mixin
    private ProjectFileOptions files;

    boolean isSkipped() {
        return skipped;
    }

    boolean isNewDrive() {
        return drive.isNewDrive();
    }

    /**
     * Returns what this opening has from its options and, where they are not given, from an earlier one.
     *
     * @param place file of the drive key where neither names one; empty for none
     */
    OpeningDefaults defaults(OpeningShapeOptions shape, Optional<OpeningDefaults> stored, Optional<Path> place) {
        return new OpeningDefaults(
                shape.cpus(stored),
                shape.memoryMib(stored),
                shape.minutes(stored),
                drive.keyFile(stored.flatMap(OpeningDefaults::driveKey).or(() -> place)),
                mtu == null ? stored.map(OpeningDefaults::mtu).orElse(MTU) : mtu);
    }

    /**
     * Prompts for passphrases and reads all files, before anything is opened.
     *
     * @param project the options of the project, whose profile has defaults
     * @param name the project's name of the drive
     * @param used the file of the drive key, and the MTU
     */
    ControllerUnlock.Terms prepare(
            ProjectOption project,
            ProjectHistory owners,
            TrustStore trustStore,
            OpeningSigner opener,
            String name,
            OpeningDefaults used)
            throws IOException {
        Path kept = kept(owners.id());
        Optional<ByteString> members = files.members();
        Optional<ByteString> settings = files.settings(drive.isNewDrive());
        SignedPolicy signed = SignedPolicy.loadNewest(kept.resolve("policy"), policy(project), owners, Instant.now());
        CertificateIssuer issuer = issuer(project, owners);
        DriveKeySealer lock = drive.openSealer(
                owners.id(), name, opener.name().id(), driveFolder(owners.id(), name), used.driveKey());
        return new ControllerUnlock.Terms(
                owners,
                trustStore,
                opener,
                issuer,
                signed,
                lock,
                drive.isNewDrive(),
                members,
                settings,
                used.mtu(),
                new UnlockRecordFile(kept.resolve("unlocked")),
                Duration.ofSeconds(seconds));
    }

    /**
     * Makes the login of the day, as agentctl project login does, unless there is a valid one.
     *
     * @return whether it made one
     */
    boolean renewLogin(ProjectOption project, ProjectHistory owners, LoginFolder login, Instant now)
            throws IOException {
        if (login.isCurrent(now)) {
            return false;
        }
        login.prepare();
        PersonLogin.create(owners, issuer(project, owners), login, now);
        return true;
    }

    private CertificateIssuer issuer(ProjectOption project, ProjectHistory owners) throws IOException {
        CertificateIssuer issuer = opened;
        if (issuer == null) {
            issuer = CertificateIssuer.of(owners, project.certificate(certificate), keys.open(project::key));
            opened = issuer;
        }
        return issuer;
    }

    /** Returns the policy of the option, or the profile's if it is newer than the stored one; null for the latter. */
    private @Nullable NamedContents policy(ProjectOption project) throws IOException {
        if (policy != null) {
            return NamedContents.read(policy, SignedPolicy.MAX_ENVELOPE);
        }
        Optional<NamedContents> joined = project.profile().map(ProjectProfile::policy);
        return joined.isPresent()
                        && SignedPolicy.isNewer(
                                joined.get(), kept(project.readHistory().id()).resolve("policy"))
                ? joined.get()
                : null;
    }

    /** Returns the folder with this device's data about a drive. */
    Path driveFolder(String project, String name) {
        return kept(project).resolve("drives").resolve(name);
    }

    private Path kept(String project) {
        return state == null ? RelayLinkOptions.projectStateFolder(project) : state;
    }
}
