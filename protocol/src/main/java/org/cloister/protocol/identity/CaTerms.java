package org.cloister.protocol.identity;

import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralSubtree;
import org.bouncycastle.asn1.x509.NameConstraints;

/**
 * What an authority may certify, RFC 5280 section 4.2.1.10.
 *
 * @param suffix of dNSNames
 * @param depth authorities that may be below it
 */
record CaTerms(String project, String suffix, int depth) {
    /**
     * Nobody's (RFC 2606). A kind with a permitted subtree is excluded otherwise; excluding the empty name would say the same,
     * but Java's reader refuses it.
     */
    private static final String NOBODY = "none.invalid";

    private static final int IPV4_WITH_MASK = 8;
    private static final int IPV6_WITH_MASK = 32;

    NameConstraints constraints() {
        GeneralSubtree[] permitted = {
            dnsNames(),
            subjects(),
            new GeneralSubtree(new GeneralName(GeneralName.rfc822Name, NOBODY)),
            new GeneralSubtree(new GeneralName(GeneralName.uniformResourceIdentifier, NOBODY)),
        };
        // strongSwan 5.9 takes no certificate with a constraint on addresses; a delegated one is bound by the
        // project's.
        return new NameConstraints(permitted, depth == 0 ? null : addresses());
    }

    /** What strongSwan 5.9 understands: it takes no address, and lets no authority be below a constraint on URIs. */
    NameConstraints constraintsForIke() {
        return new NameConstraints(new GeneralSubtree[] {dnsNames(), subjects()}, null);
    }

    private GeneralSubtree dnsNames() {
        return new GeneralSubtree(new GeneralName(GeneralName.dNSName, suffix));
    }

    private GeneralSubtree subjects() {
        return new GeneralSubtree(new GeneralName(new X500Name("O=" + project)));
    }

    private static GeneralSubtree[] addresses() {
        // Mask 0: every address.
        return new GeneralSubtree[] {
            new GeneralSubtree(new GeneralName(GeneralName.iPAddress, new DEROctetString(new byte[IPV4_WITH_MASK]))),
            new GeneralSubtree(new GeneralName(GeneralName.iPAddress, new DEROctetString(new byte[IPV6_WITH_MASK]))),
        };
    }
}
