package org.cloister.protocol.evidence;

import java.util.Locale;

/** Conditions that a VM's evidence must meet. The id of a released clause never changes. */
public enum EvidenceClause {
    /** The first clause; if it fails, no later clause is checked. */
    SIGNATURE("the host of the allocation did not sign it, or it is no statement"),
    /** Second clause; if it fails, no later clause is checked. */
    FORMAT("the payload is no statement that this version reads whole"),
    PROJECT("it is about another project than the policy"),
    VALIDITY("the policy does not hold yet, or not any more"),
    HOST("the policy does not name the host's key"),
    REVOKED("the site or the owners revoked the host"),
    ROLE("the VM is started as something else than what it asks to be"),
    TICKET("it is about another ticket than the allocation"),
    SLOT("it is about another slot than the allocation"),
    IMAGE("the policy does not accept the image now"),
    SIZE("the VM is larger than the policy allows"),
    SHARING("the host shares itself with more than the policy allows"),
    NONCE("it does not answer the verifier's question"),
    CIRCUIT("the circuit's other end has another key than the VM's signing key"),
    BINDING("it was made for another circuit"),
    LEVEL("the weakest part is below the level that the policy demands"),
    ENCRYPTION("workers talk in the clear, which the policy forbids"),
    SPENT("the slot was handed over before, or its nonce was used"),
    RELEASES("as many hand-overs were made as the policy allows");

    private final String denies;

    EvidenceClause(String denies) {
        this.denies = denies;
    }

    /** Returns the clause's name in refusals and audit records. */
    public String id() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the condition under which the clause denies. */
    public String denies() {
        return denies;
    }
}
