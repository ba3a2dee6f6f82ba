package org.cloister.protocol.evidence;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.Policy;
import org.cloister.protocol.policy.Shape;
import org.cloister.protocol.policy.Sharing;
import org.cloister.protocol.policy.VmRole;

/** A host, a worker, a policy and a verifier of which all is well, and for each clause the one change that it denies. */
final class World {
    static final String PROJECT = "a".repeat(52);
    static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");
    static final Digest IMAGE = Digest.sha384("image");
    static final Shape LIMIT = new Shape(16, 65_536, 1_048_576);

    private static final SigningKey HOST = key(Curve.P256);
    private static final SigningKey OTHER_HOST = key(Curve.P256);
    private static final VerificationKey SIGNING = key(Curve.P384).verificationKey();
    private static final VerificationKey SEALING = key(Curve.P384).verificationKey();
    private static final VerificationKey OTHER_SIGNING = key(Curve.P384).verificationKey();
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final Map<Clause, Consumer<World>> DENIALS = denials();

    SigningKey signer = HOST;
    byte[] tail = new byte[0];
    String project = PROJECT;
    VmRole role = VmRole.WORKER;
    String ticket = "t".repeat(26);
    long slot = 3;
    Digest image = IMAGE;
    Shape shape = new Shape(16, 65_536, 1_048_576);
    Sharing sharing = Sharing.NONE;
    Nonce nonce = Nonce.random(RANDOM);
    CircuitBinding binding = CircuitBinding.of("server".getBytes(US_ASCII), "client".getBytes(US_ASCII));
    List<Attachment> attachments = new ArrayList<>();

    Instant now = NOW;
    AssuranceLevel level = AssuranceLevel.HOST_WORD;
    List<AcceptedHost> hosts =
            List.of(new AcceptedHost("node17", HOST.verificationKey()), new AcceptedHost("node18", SEALING));
    List<AcceptedImage> images =
            List.of(new AcceptedImage(Digest.sha384("newer"), Optional.empty()), new AcceptedImage(IMAGE, end()));
    boolean encryptionDemanded = true;
    long releases = 10;

    private final Nonce asked = nonce;
    VerificationKey peer = SIGNING;
    boolean hostRevoked;
    boolean workerEncryption = true;
    boolean driveIntegrity;
    boolean spent;
    long released = 9;

    static SigningKey key(Curve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | MalformedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Optional<Instant> end() {
        return Optional.of(NOW.plusSeconds(1));
    }

    private static Map<Clause, Consumer<World>> denials() {
        Map<Clause, Consumer<World>> denials = new EnumMap<>(Clause.class);
        denials.put(Clause.SIGNATURE, world -> world.signer = OTHER_HOST);
        denials.put(Clause.FORMAT, world -> world.tail = " {}".getBytes(US_ASCII));
        denials.put(Clause.PROJECT, world -> world.project = "b".repeat(51) + "q");
        denials.put(Clause.VALIDITY, world -> world.now = NOW.minusSeconds(3601));
        denials.put(Clause.HOST, world -> world.hosts = world.hosts.subList(1, 2));
        denials.put(Clause.REVOKED, world -> world.hostRevoked = true);
        denials.put(Clause.ROLE, world -> world.role = VmRole.CONTROLLER);
        denials.put(Clause.TICKET, world -> world.ticket = "u".repeat(26));
        denials.put(Clause.SLOT, world -> world.slot = 2);
        denials.put(Clause.IMAGE, world -> world.image = Digest.sha384("unknown"));
        denials.put(Clause.SIZE, world -> world.shape = new Shape(16, 65_537, 0));
        denials.put(Clause.SHARING, world -> world.sharing = Sharing.ANY);
        denials.put(Clause.NONCE, world -> world.nonce = Nonce.random(RANDOM));
        denials.put(Clause.CIRCUIT, world -> world.peer = OTHER_SIGNING);
        denials.put(
                Clause.BINDING,
                world -> world.binding = CircuitBinding.of("client".getBytes(US_ASCII), "server".getBytes(US_ASCII)));
        denials.put(Clause.LEVEL, world -> world.level = AssuranceLevel.HOST_TPM);
        denials.put(Clause.ENCRYPTION, world -> world.workerEncryption = false);
        denials.put(Clause.SPENT, world -> world.spent = true);
        denials.put(Clause.RELEASES, world -> world.released = world.releases);
        return denials;
    }

    /** Changes what the clause denies, and nothing else. */
    void deny(Clause clause) {
        Objects.requireNonNull(DENIALS.get(clause), clause.id()).accept(this);
    }

    VmFacts facts() {
        return new VmFacts(project, "v".repeat(26), role, ticket, slot, image, shape, sharing);
    }

    Claim claim() {
        return new Claim(new BootKeys(SIGNING, SEALING), nonce, binding);
    }

    Statement statement() {
        return new Statement("node17", facts(), claim(), NOW, attachments);
    }

    Policy policy() {
        return new Policy(
                PROJECT,
                7,
                NOW.minus(Duration.ofHours(1)),
                NOW.plus(Duration.ofDays(90)),
                level,
                hosts,
                images,
                LIMIT,
                LIMIT,
                Sharing.PROJECT,
                encryptionDemanded,
                releases,
                Set.of());
    }

    Expectation expectation() {
        return new Expectation(
                VmRole.WORKER,
                "t".repeat(26),
                3,
                HOST.verificationKey(),
                hostRevoked,
                asked,
                peer,
                CircuitBinding.of("server".getBytes(US_ASCII), "client".getBytes(US_ASCII)),
                workerEncryption,
                driveIntegrity,
                spent,
                released);
    }

    Envelope envelope() {
        byte[] json = statement().json();
        byte[] payload = Arrays.copyOf(json, json.length + tail.length);
        System.arraycopy(tail, 0, payload, json.length, tail.length);
        try {
            return Envelope.sign(Statement.TYPE, payload, signer);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    Verdict verdict() throws MalformedException {
        byte[] policy = policy().json();
        return Verifier.decide(Policy.parse(policy), expectation(), envelope(), now);
    }
}
