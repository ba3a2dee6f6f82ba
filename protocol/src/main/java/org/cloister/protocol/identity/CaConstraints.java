package org.cloister.protocol.identity;

import java.util.ArrayList;
import java.util.List;
import org.bouncycastle.asn1.DEROctetString;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralSubtree;
import org.bouncycastle.asn1.x509.NameConstraints;

/**
 * Constraints on the names that an authority may certify; RFC 5280, section 4.2.1.10.
 *
 * @param project or {@link CertificateName#SITE}
 * @param suffixes of dNSNames, or whole dNSNames
 * @param depth number of authorities that may be below it
 */
record CaConstraints(String project, List<String> suffixes, int depth) {
    /**
     * Name that belongs to no one (RFC 2606). A permitted subtree with this name excludes all other names of its kind;
     * excluding the empty name would do the same, but Java's reader refuses it.
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

    /** Returns the constraints of an authority that certifies itself, or has no authority below it. */
    NameConstraints constraints(boolean selfSigned) {
        List<GeneralSubtree> permitted = names();
        permitted.add(new GeneralSubtree(new GeneralName(GeneralName.rfc822Name, NOBODY)));
        permitted.add(new GeneralSubtree(new GeneralName(GeneralName.uniformResourceIdentifier, NOBODY)));
        // strongSwan 5.9 rejects certificates with constraints on addresses; the project's authority constrains
        // those of a delegated one.
        return new NameConstraints(permitted.toArray(new GeneralSubtree[0]), selfSigned ? addresses() : null);
    }

    /**
     * Returns the constraints that strongSwan 5.9 accepts: it rejects constraints on addresses, and any authority below
     * a constraint on URIs.
     */
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
        // The mask 0 covers every address.
        return new GeneralSubtree[] {
            new GeneralSubtree(new GeneralName(GeneralName.iPAddress, new DEROctetString(new byte[IPV4_WITH_MASK]))),
            new GeneralSubtree(new GeneralName(GeneralName.iPAddress, new DEROctetString(new byte[IPV6_WITH_MASK]))),
        };
    }
}
