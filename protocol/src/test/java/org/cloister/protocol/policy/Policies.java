package org.cloister.protocol.policy;

import java.security.GeneralSecurityException;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.cloister.protocol.Digest;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.SigningKey;

/** Policies of one project. */
final class Policies {
    static final String PROJECT = "a".repeat(52);
    static final Instant FROM = Instant.parse("2026-06-01T12:00:00Z");

    private static final AcceptedHost FIRST = host("node17");
    private static final AcceptedHost SECOND = host("node18");

    private Policies() {}

    static SigningKey key(Curve curve) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(curve.standardName()));
            return SigningKey.of(generator.generateKeyPair());
        } catch (GeneralSecurityException | MalformedException e) {
            throw new IllegalStateException(e);
        }
    }

    static AcceptedHost host(String name) {
        return new AcceptedHost(name, key(Curve.P256).verificationKey());
    }

    static Policy first() {
        return of(PROJECT, 7, FROM, AssuranceLevel.HOST_WORD, Sharing.NONE, true, List.of(FIRST, SECOND), Set.of());
    }

    /** Of names of their own and one key, so too many keys alike to be read again. */
    static Policy withHosts(int count) {
        List<AcceptedHost> hosts = IntStream.range(0, count)
                .mapToObj(i -> new AcceptedHost("compute-" + "0".repeat(40) + i, FIRST.key()))
                .toList();
        return of(PROJECT, 7, FROM, AssuranceLevel.HOST_WORD, Sharing.NONE, true, hosts, Set.of());
    }

    static Policy of(
            String project,
            long serial,
            Instant from,
            AssuranceLevel level,
            Sharing sharing,
            boolean encryption,
            Set<Demand> loosens) {
        return of(project, serial, from, level, sharing, encryption, List.of(FIRST, SECOND), loosens);
    }

    private static Policy of(
            String project,
            long serial,
            Instant from,
            AssuranceLevel level,
            Sharing sharing,
            boolean encryption,
            List<AcceptedHost> hosts,
            Set<Demand> loosens) {
        return new Policy(
                project,
                serial,
                from,
                from.plusSeconds(90 * 86_400),
                level,
                hosts,
                List.of(
                        new AcceptedImage(Digest.sha384("current"), Optional.empty()),
                        new AcceptedImage(Digest.sha384("before"), Optional.of(from.plusSeconds(7 * 86_400)))),
                new Shape(8, 32_768, 0),
                new Shape(64, 262_144, 1_048_576),
                sharing,
                encryption,
                1000,
                loosens);
    }
}
