package org.cloister.lab.project;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.cloister.lab.LabCommand;
import org.cloister.lab.LabHome;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.SigningKeyFile;
import org.cloister.protocol.image.ImageManifest;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmShape;

/** An owner's own device with agentctl, which opens and closes the project's drive. */
public final class OpenerDevice {
    /** Time limit; a guest under emulation creates a database in it. */
    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    private static final String PASSPHRASE = "seventeen wet herons";
    private static final String[] RIGHTS = {"sh", "-c", "exec 3<\"$1\" 4<\"$1\"; shift; exec \"$@\"", "agentctl"};

    private final PersonDevice device;
    private final Path passphrase;

    /**
     * @param person who has a device and the role of an opener at the site
     * @param owner the person's key, which is an owner's
     */
    public OpenerDevice(RelaySiteFiles site, int relay, Path folder, String person, KeyPair owner) throws IOException {
        this.device =
                new PersonDevice(site, relay, folder, person, List.of(CertificateRole.DEVICE, CertificateRole.OPENER));
        this.passphrase = Files.writeString(at("passphrase"), PASSPHRASE + "\n");
        byte[] secret = PASSPHRASE.getBytes(StandardCharsets.US_ASCII);
        Files.write(
                at("owner.json"),
                SigningKeyFile.seal(owner, secret, new SecureRandom()).json());
        agentctl(
                        "project",
                        "drive-key",
                        "--key",
                        at("drive.json").toString(),
                        "--out",
                        drive().toString(),
                        "--secret-fd",
                        "3")
                .succeed();
    }

    /** Returns the public half of its key for drives. */
    public Path drive() {
        return at("drive.pub");
    }

    /** Returns the envelope of the drive's key that this device received or made, for its other openers. */
    public Path envelope(String drive) {
        return at("kept").resolve("drives").resolve(drive).resolve("envelope");
    }

    /** Writes the owners' policy: these hosts of the lab and its image, and VMs as small as these. */
    public static Path policy(RelaySiteFiles site, List<CertificateName> accepted, int number, Path file)
            throws IOException, GeneralSecurityException {
        Path image = LabHome.fromEnvironment().image("lab");
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        List<AcceptedHost> hosts = new ArrayList<>();
        for (CertificateName host : accepted) {
            hosts.add(new AcceptedHost(
                    host.id(),
                    VerificationKey.of(site.credential(host).chain().get(0).getPublicKey())));
        }
        ProjectPolicy policy = new ProjectPolicy(
                site.opener().project(),
                number,
                now.minus(Duration.ofHours(1)),
                now.plus(Duration.ofDays(30)),
                AssuranceLevel.HOST_WORD,
                hosts,
                List.of(new AcceptedImage(ImageManifest.load(image).identity(), Optional.empty())),
                new VmShape(4, 8192, 0),
                new VmShape(4, 8192, 1024),
                HostSharing.ANY,
                true,
                100,
                Set.of());
        return Files.write(
                file,
                DsseEnvelope.sign(
                                ProjectPolicy.TYPE,
                                policy.json(),
                                SigningKey.of(site.owners().get(0)))
                        .countersign(SigningKey.of(site.owners().get(1)))
                        .bytes());
    }

    /** Returns a command that ends when the VM that it opens is unlocked. */
    public LabCommand opening(String drive, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("project", "open", drive, "--days", "1", "--output", "json"));
        arguments.addAll(List.of("--key", at("owner.json").toString(), "--secret-fd", "3"));
        arguments.addAll(List.of("--drive-key", at("drive.json").toString(), "--drive-secret-fd", "4"));
        arguments.addAll(List.of(
                "--state", at("kept").toString(), "--epoch-file", at("epoch").toString()));
        arguments.addAll(device.relayArguments());
        arguments.addAll(List.of(more));
        return agentctl(arguments.toArray(String[]::new));
    }

    /** Returns the output of agentctl project status. */
    public String projectStatus() throws IOException {
        List<String> arguments = new ArrayList<>(List.of("project", "status"));
        arguments.addAll(device.relayArguments());
        return agentctl(arguments.toArray(String[]::new)).succeed();
    }

    public JsonNode close(String opening) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("project", "close", opening, "--output", "json"));
        arguments.addAll(device.relayArguments());
        return new ObjectMapper()
                .readTree(agentctl(arguments.toArray(String[]::new)).succeed());
    }

    /** Returns arguments for agentctl audit verify: the heads of the relay's log that this device has seen. */
    public List<String> heads() throws IOException {
        List<String> arguments = new ArrayList<>();
        try (Stream<Path> files = Files.walk(at("witness"))) {
            files.filter(Files::isRegularFile)
                    .filter(file -> file.toString().contains("/audit-heads/"))
                    .forEach(file -> arguments.addAll(List.of("--head", file.toString())));
        }
        return arguments;
    }

    public LabCommand agentctl(String... arguments) {
        List<String> argv = new ArrayList<>(List.of(RIGHTS));
        argv.addAll(List.of(passphrase.toString(), device.agentctl().toString()));
        argv.addAll(List.of(arguments));
        return device.command(argv).within(TIMEOUT);
    }

    private Path at(String name) {
        return device.at(name);
    }
}
