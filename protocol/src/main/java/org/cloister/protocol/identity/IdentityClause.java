package org.cloister.protocol.identity;

import java.util.Locale;

/** The rules of docs/protocol.md, sections 3, 5 and 6, by which something is refused. */
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
    /** Not signed by those who must. */
    SIGNATURES,
    PROJECT,
    /** Not the next one. */
    NUMBER,
    /** Another one with the same number was there first. */
    FORK,
    /** No token was made for the name. */
    UNKNOWN,
    PROOF,
    EXPIRED,
    /** A token that two keys have used. */
    COPIED;

    /** As the document and messages write it. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
