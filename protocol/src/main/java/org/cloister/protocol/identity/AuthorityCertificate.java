package org.cloister.protocol.identity;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.bouncycastle.asn1.x500.RDN;
import org.bouncycastle.asn1.x500.style.BCStyle;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralSubtree;
import org.bouncycastle.asn1.x509.NameConstraints;
import org.bouncycastle.cert.X509CertificateHolder;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Certificate of an authority as its holder reads it, to issue within its constraints. Others verify it with
 * {@link CertificateChain}.
 */
record AuthorityCertificate(X509CertificateHolder holder, CaConstraints terms, VerificationKey key) {
    static AuthorityCertificate parse(byte[] der) throws IOException {
        if (der.length > CertificateChain.MAX_CERTIFICATE) {
            throw malformed("at most " + CertificateChain.MAX_CERTIFICATE + " bytes", der.length + " bytes");
        }
        try {
            X509CertificateHolder holder = new X509CertificateHolder(der);
            BasicConstraints basic = BasicConstraints.fromExtensions(holder.getExtensions());
            if (basic == null || !basic.isCA() || basic.getPathLenConstraint() == null) {
                throw malformed("a CA with a path length", "another");
            }
            Extension names = holder.getExtension(Extension.nameConstraints);
            if (names == null) {
                throw malformed("name constraints", "none");
            }
            RDN[] organisation = holder.getSubject().getRDNs(BCStyle.O);
            if (organisation.length != 1) {
                throw malformed("one organisation in its subject", String.valueOf(organisation.length));
            }
            String project = organisation[0].getFirst().getValue().toString();
            if (!CertificateName.isLabel(project)) {
                throw malformed("a project's label in its subject", "another text");
            }
            return new AuthorityCertificate(
                    holder,
                    new CaConstraints(
                            project,
                            dnsNames(NameConstraints.getInstance(names.getParsedValue())),
                            basic.getPathLenConstraint().intValueExact()),
                    VerificationKey.parse(holder.getSubjectPublicKeyInfo().getEncoded("DER")));
        } catch (MalformedException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            // The ASN.1 parser throws undocumented runtime exceptions.
            throw new MalformedException("authority's certificate: not one: " + e.getMessage(), e);
        }
    }

    private static List<String> dnsNames(NameConstraints constraints) {
        List<String> names = new ArrayList<>();
        for (GeneralSubtree each : constraints.getPermittedSubtrees()) {
            if (each.getBase().getTagNo() == GeneralName.dNSName) {
                names.add(each.getBase().getName().toString());
            }
        }
        return names;
    }

    private static MalformedException malformed(String want, String have) {
        return new MalformedException("authority's certificate: want " + want + ", have " + have);
    }
}
