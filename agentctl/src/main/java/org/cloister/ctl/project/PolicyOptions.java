package org.cloister.ctl.project;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.cloister.base.encoding.Digest;
import org.cloister.ctl.opening.SignedPolicy;
import org.cloister.ctl.profile.NamedContents;
import org.cloister.ctl.profile.ProjectProfile;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.PolicySuccession;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmShape;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** Options from which a policy is made; what they do not give is the previous policy's, or a default. */
@SuppressWarnings("NullAway.Init") // picocli sets the fields before use
final class PolicyOptions {
    private static final VmShape CONTROLLER = new VmShape(8, 32_768, 0);
    private static final VmShape WORKER = new VmShape(64, 262_144, 1 << 20);
    private static final long RELEASES = 10_000;

    @Option(
            names = "--host",
            paramLabel = "FILE",
            description = "Certificate of a host to accept, in PEM, as the site issued it in the last 31 days; may be "
                    + "given more than once. The hosts given are all that are accepted. Default: the previous "
                    + "policy's.")
    private List<Path> hosts = List.of();

    @Option(
            names = "--site",
            paramLabel = "FILE",
            description = "Certificate of the site's CA, in PEM, by which --host is verified; default: the profile's.")
    private @Nullable Path site;

    @Option(
            names = "--image",
            paramLabel = "IDENTITY[=DAYS]",
            description = "Identity of the image to accept, as agentctl image show prints it; with DAYS, at most 31, "
                    + "one that is accepted for so many more days. May be given more than once. The images given are "
                    + "all that are accepted. Default: the previous policy's.")
    private List<String> images = List.of();

    @Option(
            names = "--days",
            paramLabel = "NUMBER",
            defaultValue = "180",
            description = "Days until the policy ends, at most 366; default: ${DEFAULT-VALUE}.")
    private int days;

    @Option(
            names = "--controller",
            paramLabel = "SIZE",
            converter = VmShapeConverter.class,
            description = "Largest controlling VM; default: the previous policy's, or cpus=8,memory=32G.")
    private @Nullable VmShape controller;

    @Option(
            names = "--worker",
            paramLabel = "SIZE",
            converter = VmShapeConverter.class,
            description = "Largest worker VM; default: the previous policy's, or cpus=64,memory=256G,scratch=1T.")
    private @Nullable VmShape worker;

    @Option(
            names = "--level",
            paramLabel = "NUMBER",
            description = "Assurance level, 0 to 2; default: the previous policy's, or 0.")
    private @Nullable Integer level;

    @Option(
            names = "--sharing",
            paramLabel = "WORD",
            description = "Whose other VMs and jobs a host may run beside a VM of the project: none, project or any; "
                    + "default: the previous policy's, or project.")
    private @Nullable HostSharing sharing;

    @Option(
            names = "--worker-encryption",
            paramLabel = "WORD",
            description = "Encryption between worker VMs: required or optional; default: the previous policy's, or "
                    + "required.")
    private @Nullable String encryption;

    @Option(
            names = "--releases",
            paramLabel = "NUMBER",
            description = "Hand-overs of keys under the policy, at most 1,000,000; default: the previous policy's, or "
                    + RELEASES + ".")
    private @Nullable Long releases;

    @Option(
            names = "--previous",
            paramLabel = "FILE",
            description = "The policy before this one, signed by the threshold of owners; default: the profile's. A "
                    + "project's first policy has none.")
    private @Nullable Path previous;

    @Spec
    private CommandSpec own;

    @Spec(Target.MIXEE)
    private CommandSpec spec;

    /** Rejects these options beside a policy that was written by hand. */
    void requireNone() {
        UnusedOptions.reject(own, spec, ": only without POLICY, which has all this");
    }

    /** Returns the payload of the policy, which succeeds the previous one. */
    byte[] payload(ProjectOption of, ProjectHistory project, Instant now) throws IOException {
        Instant from = now.truncatedTo(ChronoUnit.SECONDS);
        Optional<ProjectPolicy> before = previous(of, project);
        try {
            ProjectPolicy requested = new ProjectPolicy(
                    project.id(),
                    1,
                    from,
                    from.plus(Duration.ofDays(days)),
                    level == null
                            ? before.map(ProjectPolicy::level).orElse(AssuranceLevel.HOST_WORD)
                            : AssuranceLevel.of(level),
                    hosts(of, before, now),
                    images(before, from),
                    value(controller, before, ProjectPolicy::controllerLimit, CONTROLLER),
                    value(worker, before, ProjectPolicy::workerLimit, WORKER),
                    value(sharing, before, ProjectPolicy::sharing, HostSharing.PROJECT),
                    value(isEncryptionRequired(), before, ProjectPolicy::workerEncryption, true),
                    value(releases, before, ProjectPolicy::releases, RELEASES),
                    Set.of());
            return PolicySuccession.succeeding(before, requested).json();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private Optional<ProjectPolicy> previous(ProjectOption of, ProjectHistory project) throws IOException {
        Optional<NamedContents> signed = previous == null
                ? of.profile().map(ProjectProfile::policy)
                : Optional.of(NamedContents.read(previous, SignedPolicy.MAX_ENVELOPE));
        return signed.isPresent()
                ? Optional.of(SignedPolicy.read(signed.get(), project).policy())
                : Optional.empty();
    }

    private List<AcceptedHost> hosts(ProjectOption of, Optional<ProjectPolicy> before, Instant now) throws IOException {
        if (hosts.isEmpty()) {
            return before.map(ProjectPolicy::hosts).orElseThrow(() -> missing("--host"));
        }
        Set<VerificationKey> keys = of.siteKeys(site);
        List<AcceptedHost> accepted = new ArrayList<>();
        for (Path file : hosts) {
            accepted.add(HostCertificateFile.read(file, keys, now));
        }
        return accepted;
    }

    /** Returns the images of the options, or those of the previous policy that it has not ended. */
    private List<AcceptedImage> images(Optional<ProjectPolicy> before, Instant from) {
        if (images.isEmpty()) {
            return before.map(policy -> policy.images().stream()
                            .filter(image -> image.until().map(from::isBefore).orElse(true))
                            .toList())
                    .orElseThrow(() -> missing("--image"));
        }
        return images.stream().map(text -> image(text, from)).toList();
    }

    private static AcceptedImage image(String text, Instant from) {
        String[] parts = text.split("=", 2);
        Digest identity = new Digest(Digest.Algorithm.SHA384, parts[0]);
        if (parts.length == 1) {
            return new AcceptedImage(identity, Optional.empty());
        }
        if (!parts[1].matches("[1-9][0-9]?")) {
            throw new IllegalArgumentException("--image: want IDENTITY or IDENTITY=DAYS, have " + text);
        }
        return new AcceptedImage(identity, Optional.of(from.plus(Duration.ofDays(Integer.parseInt(parts[1])))));
    }

    private @Nullable Boolean isEncryptionRequired() {
        if (encryption == null) {
            return null;
        }
        if (!encryption.equals("required") && !encryption.equals("optional")) {
            throw new IllegalArgumentException("--worker-encryption: want required or optional, have " + encryption);
        }
        return encryption.equals("required");
    }

    private static <T> T value(
            @Nullable T option, Optional<ProjectPolicy> before, Function<ProjectPolicy, T> field, T usual) {
        return option == null ? before.map(field).orElse(usual) : option;
    }

    private ParameterException missing(String option) {
        return new ParameterException(
                spec.commandLine(),
                "missing option " + option + ": a first policy needs it; a later one needs --previous or a profile");
    }
}
