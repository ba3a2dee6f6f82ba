package org.cloister.protocol.identity;

import java.util.ArrayList;
import java.util.List;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralSubtree;
import org.bouncycastle.asn1.x509.NameConstraints;

/**
 * What an authority may certify, RFC 5280 section 4.2.1.10.
 *
 * @param project or {@link CertificateName#SITE}
 * @param suffixes of dNSNames, or whole ones
 * @param depth authorities that may be below it
 */
record CaConstraints(String project, List<String> suffixes, int depth) {
    /**
     * Nobody's (RFC 2606). A kind with a permitted subtree is excluded otherwise; excluding the empty name would say the same,
     * but Java's reader refuses it.
     */
    private static final String NOBODY = "none.invalid";

    private static final int IPV4_WITH_MASK = 8;
    private static final int IPV6_WITH_MASK = 32;

    CaConstraints {
        suffixes = List.copyOf(suffixes);
    }

    boolean permits(String dnsName) {
        return suffixes.stream().anyMatch(each -> dnsName.equals(each) || dnsName.endsWith("." + each));
    }

    /** Of one that certifies itself, or has no authority below it. */
    NameConstraints constraints(boolean selfSigned) {
        List<GeneralSubtree> permitted = names();
        permitted.add(new GeneralSubtree(new GeneralName(GeneralName.rfc822Name, NOBODY)));
        permitted.add(new GeneralSubtree(new GeneralName(GeneralName.uniformResourceIdentifier, NOBODY)));
        // strongSwan 5.9 takes no certificate with a constraint on addresses; a delegated one is bound by the
        // project's.
        return new NameConstraints(permitted.toArray(new GeneralSubtree[0]), selfSigned ? addresses() : null);
    }

    /** What strongSwan 5.9 understands: it takes no address, and lets no authority be below a constraint on URIs. */
    NameConstraints constraintsForIke() {
        return new NameConstraints(names().toArray(new GeneralSubtree[0]), null);
    }

    private List<GeneralSubtree> names() {
        List<GeneralSubtree> names = new ArrayList<>();
        suffixes.forEach(each -> names.add(new GeneralSubtree(new GeneralName(GeneralName.dNSName, each))));
        names.add(new GeneralSubtree(new GeneralName(new X500Name("O=" + project))));
        return names;
    }

    private static GeneralSubtree[] addresses() {
        // Mask 0: every address.
        return new GeneralSubtree[] {
            new GeneralSubtree(new GeneralName(GeneralName.iPAddress, new DEROctetString(new byte[IPV4_WITH_MASK]))),
            new GeneralSubtree(new GeneralName(GeneralName.iPAddress, new DEROctetString(new byte[IPV6_WITH_MASK]))),
        };
    }
}
