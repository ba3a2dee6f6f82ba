package org.cloister.protocol.identity;

import java.util.Locale;

/** Rules of docs/protocol.md, sections 3, 5 and 6, by which an identity, document or request is refused. */
public enum IdentityClause {
    CHAIN,
    CERTIFICATE,
    NAME,
    ROLE,
    SCOPE,
    KEY,
    USAGE,
    LIFETIME,
    TIME,
    ISSUER,
    CONSTRAINT,
    LIST,
    REVOKED,
    /** The required signers did not sign it. */
    SIGNATURES,
    PROJECT,
    /** The number is not the next one. */
    NUMBER,
    /** An object with the same number and other content was accepted before. */
    FORK,
    /** No token was created for the name. */
    UNKNOWN,
    PROOF,
    EXPIRED,
    /** Two keys used the same token. */
    COPIED;

    /** Returns the clause as the document and messages write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
