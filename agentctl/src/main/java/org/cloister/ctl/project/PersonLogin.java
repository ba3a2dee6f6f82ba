package org.cloister.ctl.project;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.cloister.ctl.key.LoginFolder;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateAuthority;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.SubjectPublicKey;
import org.cloister.protocol.identity.TrustAnchors;

/**
 * Keys and certificates of the day, for a person's device and each of the person's roles.
 *
 * @param roles the person's roles and that of the device
 * @param lifetime of the certificates
 */
public record PersonLogin(Set<CertificateRole> roles, Duration lifetime) {
    public PersonLogin {
        roles = Set.copyOf(roles);
    }

    /**
     * Makes new keys and certificates, which replace those in the folder.
     *
     * @param folder in memory, and prepared
     */
    public static PersonLogin create(ProjectHistory project, CertificateIssuer issuer, LoginFolder folder, Instant now)
            throws IOException {
        Duration lifetime = issuer.limitLifetime(CertificateAuthority.LEAF, now);
        Set<CertificateRole> roles = EnumSet.copyOf(issuer.roles());
        roles.add(CertificateRole.DEVICE);
        for (CertificateRole role : roles) {
            KeyPair pair = pair(role);
            CertificateName name = new CertificateName(issuer.id(), role.toString(), project.id());
            List<byte[]> chain = new ArrayList<>();
            chain.add(issuer.authority()
                    .issue(name, SubjectPublicKey.of(VerificationKey.of(pair.getPublic())), now, lifetime));
            chain.addAll(issuer.above());
            // Verify the chain as its later recipients do.
            CertificateChain.parse(chain)
                    .verifyUnlisted(Set.of(role), TrustAnchors.none().withProject(project), now);
            folder.write(role, pair.getPrivate(), chain);
        }
        return new PersonLogin(roles, lifetime);
    }

    private static KeyPair pair(CertificateRole role) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec(role.curve().standardName()));
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this JRE has no " + role.curve().standardName(), e);
        }
    }
}
