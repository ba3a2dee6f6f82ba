package org.cloister.protocol.policy;

import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.SigningKey;

/** Policies of one project. */
final class PolicySamples {
    static final String PROJECT = "a".repeat(52);
    static final Instant FROM = Instant.parse("2026-06-01T12:00:00Z");

    private static final AcceptedHost FIRST = host("node17");
    private static final AcceptedHost SECOND = host("node18");

    private PolicySamples() {}

    static SigningKey key(SignatureCurve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | MalformedException e) {
            throw new IllegalStateException(e);
        }
    }

    static AcceptedHost host(String name) {
        return new AcceptedHost(name, key(SignatureCurve.P256).verificationKey());
    }

    static ProjectPolicy first() {
        return of(PROJECT, 7, FROM, AssuranceLevel.HOST_WORD, HostSharing.NONE, true, List.of(FIRST, SECOND), Set.of());
    }

    /** Of names of their own and one key, so too many keys alike to be read again. */
    static ProjectPolicy withHosts(int count) {
        List<AcceptedHost> hosts = IntStream.range(0, count)
                .mapToObj(i -> new AcceptedHost("compute-" + "0".repeat(40) + i, FIRST.key()))
                .toList();
        return of(PROJECT, 7, FROM, AssuranceLevel.HOST_WORD, HostSharing.NONE, true, hosts, Set.of());
    }

    static ProjectPolicy of(
            String project,
            long serial,
            Instant from,
            AssuranceLevel level,
            HostSharing sharing,
            boolean encryption,
            Set<PolicyRequirement> loosens) {
        return of(project, serial, from, level, sharing, encryption, List.of(FIRST, SECOND), loosens);
    }

    private static ProjectPolicy of(
            String project,
            long serial,
            Instant from,
            AssuranceLevel level,
            HostSharing sharing,
            boolean encryption,
            List<AcceptedHost> hosts,
            Set<PolicyRequirement> loosens) {
        return new ProjectPolicy(
                project,
                serial,
                from,
                from.plusSeconds(90 * 86_400),
                level,
                hosts,
                List.of(
                        new AcceptedImage(Digest.sha384("current"), Optional.empty()),
                        new AcceptedImage(Digest.sha384("before"), Optional.of(from.plusSeconds(7 * 86_400)))),
                new VmShape(8, 32_768, 0),
                new VmShape(64, 262_144, 1_048_576),
                sharing,
                encryption,
                1000,
                loosens);
    }
}
