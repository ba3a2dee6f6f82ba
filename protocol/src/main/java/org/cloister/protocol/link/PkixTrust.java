package org.cloister.protocol.link;

import java.io.ByteArrayInputStream;
import java.security.GeneralSecurityException;
import java.security.cert.CertPathValidator;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.PKIXCertPathValidatorResult;
import java.security.cert.PKIXParameters;
import java.security.cert.TrustAnchor;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.identity.Name;

/** Trust by anchors alone (RFC 5280, section 6): the site's authority and projects', each for the names below its own project. */
public final class PkixTrust implements Trust {
    private static final int DNS_NAME = 2;
    private static final int MAX_CHAIN = 3;

    private final Set<TrustAnchor> anchors = new HashSet<>();
    private final Map<X509Certificate, String> projects = new HashMap<>();

    /** @param anchors by the project that each may speak for; {@code site} for the site's */
    public PkixTrust(Map<String, X509Certificate> anchors) {
        anchors.forEach((project, certificate) -> {
            // The JDK looks at no constraints in an anchor: verify does, by the project's name.
            this.anchors.add(new TrustAnchor(certificate, null));
            projects.put(certificate, project);
        });
    }

    /** Reads one certificate in DER. */
    public static X509Certificate read(byte[] der) throws CertificateException {
        return (X509Certificate)
                CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(der));
    }

    @Override
    public Name verify(List<X509Certificate> chain) throws CertificateException {
        if (chain.isEmpty() || chain.size() > MAX_CHAIN) {
            throw new CertificateException("chain: want 1 to " + MAX_CHAIN + " certificates, have " + chain.size());
        }
        Name name = nameOf(chain.get(0));
        String project = projects.get(anchorOf(chain));
        if (!name.project().equals(project)) {
            throw new CertificateException("certificate: its authority speaks for " + project + ", have " + name);
        }
        return name;
    }

    private X509Certificate anchorOf(List<X509Certificate> chain) throws CertificateException {
        try {
            PKIXParameters parameters = new PKIXParameters(anchors);
            parameters.setRevocationEnabled(false);
            PKIXCertPathValidatorResult result = (PKIXCertPathValidatorResult) CertPathValidator.getInstance("PKIX")
                    .validate(CertificateFactory.getInstance("X.509").generateCertPath(chain), parameters);
            return result.getTrustAnchor().getTrustedCert();
        } catch (GeneralSecurityException e) {
            throw new CertificateException("chain: " + e.getMessage(), e);
        }
    }

    private static Name nameOf(X509Certificate leaf) throws CertificateException {
        Collection<List<?>> names = leaf.getSubjectAlternativeNames();
        if (names == null || names.size() != 1) {
            throw new CertificateException(
                    "certificate: want one dNSName, have " + (names == null ? 0 : names.size()) + " names");
        }
        List<?> only = names.iterator().next();
        if (!Integer.valueOf(DNS_NAME).equals(only.get(0)) || !(only.get(1) instanceof String text)) {
            throw new CertificateException("certificate: want a dNSName, have a name of another kind");
        }
        try {
            return Request.name("certificate", text);
        } catch (MalformedException e) {
            throw new CertificateException(e.getMessage(), e);
        }
    }
}
