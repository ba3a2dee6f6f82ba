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
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.policy.AcceptedHost;
import org.cloister.protocol.policy.AcceptedImage;
import org.cloister.protocol.policy.AssuranceLevel;
import org.cloister.protocol.policy.HostSharing;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.policy.VmRole;
import org.cloister.protocol.policy.VmShape;

/** A host, a worker, a policy and a verifier of which all is well, and for each clause the one change that it denies. */
public final class EvidenceFixture {
    static final String PROJECT = "a".repeat(52);
    public static final Instant NOW = Instant.parse("2026-06-01T12:00:00Z");
    static final Digest IMAGE = Digest.sha384("image");
    static final VmShape LIMIT = new VmShape(16, 65_536, 1_048_576);

    private static final SigningKey HOST = key(SignatureCurve.P256);
    private static final SigningKey OTHER_HOST = key(SignatureCurve.P256);
    private static final VerificationKey SIGNING = key(SignatureCurve.P384).verificationKey();
    private static final VerificationKey SEALING = key(SignatureCurve.P384).verificationKey();
    private static final VerificationKey OTHER_SIGNING =
            key(SignatureCurve.P384).verificationKey();
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final Map<EvidenceClause, Consumer<EvidenceFixture>> DENIALS = denials();

    public SigningKey signer = HOST;
    byte[] tail = new byte[0];
    String project = PROJECT;
    VmRole role = VmRole.WORKER;
    String ticket = "t".repeat(26);
    long slot = 3;
    Digest image = IMAGE;
    VmShape shape = new VmShape(16, 65_536, 1_048_576);
    public HostSharing sharing = HostSharing.NONE;
    Nonce nonce = Nonce.random(RANDOM);
    CircuitBinding binding = CircuitBinding.of("server".getBytes(US_ASCII), "client".getBytes(US_ASCII));
    List<PlatformEvidence> attachments = new ArrayList<>();

    Instant now = NOW;
    AssuranceLevel level = AssuranceLevel.HOST_WORD;
    List<AcceptedHost> hosts =
            List.of(new AcceptedHost("node17", HOST.verificationKey()), new AcceptedHost("node18", SEALING));
    List<AcceptedImage> images =
            List.of(new AcceptedImage(Digest.sha384("newer"), Optional.empty()), new AcceptedImage(IMAGE, endTime()));
    boolean encryptionDemanded = true;
    long releases = 10;

    private final Nonce challenge = nonce;
    VerificationKey peer = SIGNING;
    boolean hostRevoked;
    boolean workerEncryption = true;
    boolean driveIntegrity;
    boolean spent;
    long released = 9;

    static SigningKey key(SignatureCurve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | MalformedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Optional<Instant> endTime() {
        return Optional.of(NOW.plusSeconds(1));
    }

    private static Map<EvidenceClause, Consumer<EvidenceFixture>> denials() {
        Map<EvidenceClause, Consumer<EvidenceFixture>> denials = new EnumMap<>(EvidenceClause.class);
        denials.put(EvidenceClause.SIGNATURE, world -> world.signer = OTHER_HOST);
        denials.put(EvidenceClause.FORMAT, world -> world.tail = " {}".getBytes(US_ASCII));
        denials.put(EvidenceClause.PROJECT, world -> world.project = "b".repeat(51) + "q");
        denials.put(EvidenceClause.VALIDITY, world -> world.now = NOW.minusSeconds(3601));
        denials.put(EvidenceClause.HOST, world -> world.hosts = world.hosts.subList(1, 2));
        denials.put(EvidenceClause.REVOKED, world -> world.hostRevoked = true);
        denials.put(EvidenceClause.ROLE, world -> world.role = VmRole.CONTROLLER);
        denials.put(EvidenceClause.TICKET, world -> world.ticket = "u".repeat(26));
        denials.put(EvidenceClause.SLOT, world -> world.slot = 2);
        denials.put(EvidenceClause.IMAGE, world -> world.image = Digest.sha384("unknown"));
        denials.put(EvidenceClause.SIZE, world -> world.shape = new VmShape(16, 65_537, 0));
        denials.put(EvidenceClause.SHARING, world -> world.sharing = HostSharing.ANY);
        denials.put(EvidenceClause.NONCE, world -> world.nonce = Nonce.random(RANDOM));
        denials.put(EvidenceClause.CIRCUIT, world -> world.peer = OTHER_SIGNING);
        denials.put(
                EvidenceClause.BINDING,
                world -> world.binding = CircuitBinding.of("client".getBytes(US_ASCII), "server".getBytes(US_ASCII)));
        denials.put(EvidenceClause.LEVEL, world -> world.level = AssuranceLevel.HOST_TPM);
        denials.put(EvidenceClause.ENCRYPTION, world -> world.workerEncryption = false);
        denials.put(EvidenceClause.SPENT, world -> world.spent = true);
        denials.put(EvidenceClause.RELEASES, world -> world.released = world.releases);
        return denials;
    }

    /** Changes what the clause denies, and nothing else. */
    void deny(EvidenceClause clause) {
        Objects.requireNonNull(DENIALS.get(clause), clause.id()).accept(this);
    }

    public VmFacts facts() {
        return new VmFacts(project, "v".repeat(26), role, ticket, slot, image, shape, sharing);
    }

    public AttestationClaims claim() {
        return new AttestationClaims(new BootPublicKeys(SIGNING, SEALING), nonce, binding);
    }

    EvidenceStatement statement() {
        return new EvidenceStatement("node17", facts(), claim(), NOW, attachments);
    }

    public ProjectPolicy policy() {
        return new ProjectPolicy(
                PROJECT,
                7,
                NOW.minus(Duration.ofHours(1)),
                NOW.plus(Duration.ofDays(90)),
                level,
                hosts,
                images,
                LIMIT,
                LIMIT,
                HostSharing.PROJECT,
                encryptionDemanded,
                releases,
                Set.of());
    }

    public ReferenceValues expectation() {
        return new ReferenceValues(
                VmRole.WORKER,
                "t".repeat(26),
                3,
                HOST.verificationKey(),
                hostRevoked,
                challenge,
                peer,
                CircuitBinding.of("server".getBytes(US_ASCII), "client".getBytes(US_ASCII)),
                workerEncryption,
                driveIntegrity,
                spent,
                released);
    }

    DsseEnvelope envelope() {
        byte[] json = statement().json();
        byte[] payload = Arrays.copyOf(json, json.length + tail.length);
        System.arraycopy(tail, 0, payload, json.length, tail.length);
        try {
            return DsseEnvelope.sign(EvidenceStatement.TYPE, payload, signer);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    AttestationResult verdict() throws MalformedException {
        byte[] policy = policy().json();
        return EvidenceVerifier.appraise(ProjectPolicy.parse(policy), expectation(), envelope(), now);
    }
}
