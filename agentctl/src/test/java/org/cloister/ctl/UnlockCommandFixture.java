package org.cloister.ctl;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.cloister.base.encoding.Digest;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmShape;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ProjectSubnet;
import org.cloister.transport.tls.TlsCredential;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;

/** An opener's device with keys to drives, policies that the owners signed, and VMs that boot for its openings. */
@SuppressWarnings("NullAway") // what is missing shows as a failed test
abstract class UnlockCommandFixture extends OpenerDeviceFixture {
    static final ProjectSubnet NETWORK = ProjectSubnet.parse("10.64.12.0/22");
    private static int policies;

    Path state;
    private int openings;

    @BeforeAll
    @SuppressWarnings("try") // what is open is only there to have a number
    static void makeKeys() throws IOException {
        out("project", "drive-key", "--key", at("cat.drive"), "--out", at("cat.drive.pub"));
        out("project", "drive-key", "--key", at("eve.drive"), "--out", at("eve.drive.pub"));
        Path recoveryFile = Files.createFile(folder.resolve("paper"));
        try (FileOutputStream printer = new FileOutputStream(recoveryFile.toFile())) {
            ProjectFilesFixture.out(project.cli.run(
                    "project", "drive-key", "--recovery-fd", Cli.descriptor(recoveryFile), "--out", at("safe.pub")));
        }
    }

    @BeforeEach
    void keep() throws IOException {
        state = Files.createTempDirectory(folder, "state");
        openings = 0;
    }

    static SigningKey key(TlsCredential own) throws IOException {
        return SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
    }

    static SigningKey anyKey(SignatureCurve curve) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec(curve.standardName()));
        return SigningKey.of(generator.generateKeyPair());
    }

    static String policy(long serial, Digest image, long cpus, SigningKey host) throws IOException {
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        ProjectPolicy policy = new ProjectPolicy(
                history.id(),
                serial,
                now.minus(Duration.ofHours(1)),
                now.plus(Duration.ofDays(30)),
                AssuranceLevel.HOST_WORD,
                List.of(new AcceptedHost("h1", host.verificationKey())),
                List.of(new AcceptedImage(image, Optional.empty())),
                new VmShape(cpus, 8192, 0),
                new VmShape(64, 262_144, 1 << 20),
                HostSharing.PROJECT,
                true,
                100,
                Set.of());
        String file = at("policy-" + policies++);
        Files.write(Path.of(file + ".json"), policy.json());
        out("project", "policy", "--project", at("genesis"), "--out", file, file + ".json", "--key", at("ann.key"));
        return file;
    }

    static String signed(long serial) throws IOException {
        String file = policy(serial, FakeControllerVm.IMAGE, 4, key(credential("h1")));
        out("project", "sign", file, "--key", at("ben.key"));
        return file;
    }

    String[] unlocking(String... more) throws IOException {
        return Stream.concat(
                        Stream.of(open(
                                "--certificate",
                                at("cat-opener.pem"),
                                "--key",
                                at("cat.key"),
                                "--drive-key",
                                at("cat.drive"),
                                "--state",
                                state.toString(),
                                "--boot-time",
                                "20")),
                        Stream.of(more))
                .toArray(String[]::new);
    }

    String[] creating(String... more) throws IOException {
        return Stream.concat(
                        Stream.of(unlocking(
                                "--create", "--make", "1G", "--recovery", at("safe.pub"), "--settings", settings())),
                        Stream.of(more))
                .toArray(String[]::new);
    }

    static final String SETTINGS = "[queue]\ntickets = 3\n[[shape]]\nhosts = 2\ncpus = 4\nmemory-mib = 8192\n";

    static String settings() throws IOException {
        return file("settings.toml", SETTINGS);
    }

    static String file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    static ByteString allocation(Opening opening) throws Exception {
        Allocation allocation = new Allocation(
                new CertificateName("r1", "relay", CertificateName.SITE),
                opening.project(),
                opening.id(),
                Digest.sha256(opening.payload()),
                7,
                Instant.now(),
                103,
                NETWORK,
                List.of(new AllocatedSlot(
                        0,
                        "n1",
                        new CertificateName("h1", "host", CertificateName.SITE),
                        key(credential("h1")).verificationKey(),
                        NETWORK.controller(),
                        opening.cpus(),
                        opening.memoryMib())));
        return ByteString.copyFrom(allocation.sign(key(credential("r1"))).bytes());
    }

    /** Result of a command, and the VM that it unlocked. */
    record UnlockResult(Cli.Result result, FakeControllerVm vm) implements AutoCloseable {
        @Override
        public void close() {
            vm.close();
        }
    }

    UnlockResult runUnlock(String[] arguments, Consumer<FakeControllerVm> change) throws Exception {
        CompletableFuture<Cli.Result> result = CompletableFuture.supplyAsync(() -> {
            try {
                return project.cli.runWithSecrets(arguments);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        openings++;
        while (relay.acceptedOpenings().size() < openings) {
            assertThat(result).as("before it opened").isNotDone();
            Thread.sleep(20);
        }
        Opening opening = relay.acceptedOpenings().get(openings - 1);
        FakeControllerVm vm = new FakeControllerVm(relay, credential("h1"), beliefs(), opening);
        change.accept(vm);
        vm.boot();
        relay.run(opening.id(), allocation(opening));
        return new UnlockResult(result.get(90, TimeUnit.SECONDS), vm);
    }

    UnlockResult runUnlock(String... arguments) throws Exception {
        return runUnlock(arguments, vm -> {});
    }
}
