package org.cloister.protocol.link;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.function.Supplier;
import org.cloister.protocol.dsse.Curve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Authority;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.identity.SubjectKey;
import org.jspecify.annotations.Nullable;

/** The desk's own credential, which it issues to itself: a new key, in memory alone, whenever half of the last one's life is over. */
public final class DeskCredential implements Supplier<Credential> {
    /** A site has one desk. */
    public static final Name NAME = new Name("ca", Role.DESK.toString(), Name.SITE);

    private final Authority site;
    private final InstantSource clock;
    private @Nullable Credential newest;
    private Instant good = Instant.MIN;

    public DeskCredential(Authority site, InstantSource clock) {
        this.site = site;
        this.clock = clock;
    }

    /**
     * The newest; if there is to be another one and none can be made, the last one, which holds for some time yet.
     *
     * @throws UncheckedIOException if not even the first one can be made: the authority ends within a day, or its key cannot be
     *     used
     */
    @Override
    public synchronized Credential get() {
        Instant now = clock.instant();
        Credential held = newest;
        if (held != null && now.isBefore(good)) {
            return held;
        }
        try {
            Credential fresh = make(now);
            newest = fresh;
            good = now.plus(Authority.LEAF.dividedBy(2));
            return fresh;
        } catch (IOException e) {
            if (held != null) {
                return held;
            }
            throw new UncheckedIOException(e.getMessage(), e);
        }
    }

    private Credential make(Instant now) throws IOException {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(Curve.P256.standardName()));
            KeyPair pair = generator.generateKeyPair();
            SubjectKey key = SubjectKey.of(VerificationKey.of(pair.getPublic()));
            byte[] der = site.issue(NAME, key, now, Authority.LEAF);
            return new Credential(pair.getPrivate(), List.of(PemCredential.certificate(der)));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no " + Curve.P256.standardName(), e);
        }
    }
}
