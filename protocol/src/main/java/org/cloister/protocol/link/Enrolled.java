package org.cloister.protocol.link;

import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;

/**
 * An enrolled host or relay, as its files say who it is.
 *
 * @param site keys of the site's authority
 * @param file of its certificate, which is replaced when that is renewed
 */
public record Enrolled(Name name, Credential own, Set<VerificationKey> site, Path file) {
    public Enrolled {
        site = Set.copyOf(site);
    }

    /**
     * @param key PKCS #8 in PEM
     * @param authority the site's certificates in PEM
     * @throws IOException also if it is not of that role, or not of that site
     */
    public static Enrolled read(Path certificate, Path key, Path authority, Role role) throws IOException {
        Set<VerificationKey> site = new LinkedHashSet<>();
        for (X509Certificate each : PemCredential.certificates(authority)) {
            site.add(VerificationKey.parse(each.getPublicKey().getEncoded()));
        }
        Credential own = PemCredential.read(certificate, key);
        try {
            Name name = Chain.of(own.chain())
                    .verifyUnlisted(Set.of(role), Anchors.none().withSite(site), Instant.now())
                    .name();
            return new Enrolled(name, own, site, certificate);
        } catch (IdentityRefused e) {
            throw new IOException(certificate + ": " + e.getMessage(), e);
        }
    }

    public Anchors anchors() {
        return Anchors.none().withSite(site);
    }

    /** Its key stays when its certificate is renewed. */
    public SigningKey key() throws IOException {
        return SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
    }

    /** Keeps what comes in the certificate's file. */
    public Renewal renewal(RandomGenerator random) throws IOException {
        return new Renewal(own, anchors(), fresh -> PemCredential.replace(file, List.of(fresh)), random);
    }
}
