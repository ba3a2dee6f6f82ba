package org.cloister.ipsec;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Cause of a tunnel's failure, recognised in charon's log, with its remedy. The constants are tried in this order. */
public enum TunnelFailureCause {
    PEER_SILENT(
            "the peer does not answer",
            "see that the peer runs, that its charon runs, and that udp/500 and udp/4500 pass between the two",
            "giving up after \\d+ retransmits|retransmit \\d+ of request|peer not responding"),
    PEER_REFUSED(
            "the peer does not accept our certificate, or has no connection for our name at our address",
            "compare our name, address and certificate's dates with what the peer was told; its log says which",
            "received AUTHENTICATION_FAILED"),
    PEER_UNPREPARED(
            "the peer takes none of our proposals, or has not been told of us yet",
            "wait until the peer has loaded its connections; then compare the proposals of both ends",
            "received NO_PROPOSAL_CHOSEN"),
    PEER_SELECTORS(
            "the peer does not accept our addresses as ends of the tunnel",
            "compare the addresses that both ends were told",
            "received TS_UNACCEPTABLE|no acceptable traffic selectors"),
    EXPIRED(
            "the peer's certificate is not valid now",
            "see that both clocks are right, and have the controlling VM issue a new certificate",
            "subject certificate invalid \\(valid from"),
    REVOKED(
            "the peer's certificate is revoked",
            "if that is wrong, have the controlling VM issue another one",
            "certificate was revoked"),
    WRONG_KEY(
            "the peer's signature does not fit the certificate, or the key is weaker than permitted",
            "have the controlling VM issue a certificate for the peer's present key",
            "signature validation failed|signature verification failed|signatures? (scheme .* )?not acceptable"),
    UNTRUSTED(
            "the peer's certificate is not of this project's authority, or not for the name we expect there",
            "see which project's VM has this address",
            "no trusted .* public key found|no issuer certificate found|constraint check failed"),
    NO_CONFIG(
            "the peer's name or address is not one that we were told",
            "compare the peer's name and address with what the plan says",
            "no matching peer config found|no IKE config found"),
    NO_OWN_KEY(
            "charon has not the private key of our certificate",
            "load the key that belongs to the certificate",
            "no private key found"),
    NO_ESP(
            "the kernel took the tunnel's keys not",
            "load esp4, gcm, seqiv and drbg, or use user-space ESP",
            "unable to (add SAD entry|install (inbound|outbound|IPsec|inbound and outbound))"),
    UNSENT(
            "packets for the peer could not be sent",
            "look for the route to the peer, and for another rule set that drops IKE",
            "error writing to socket|unable to resolve|no route"),
    PEER_CLOSED(
            "the peer has closed the tunnel", "see why the peer's tunnel was taken away", "received DELETE for IKE_SA");

    private final String text;
    private final String remedy;
    private final Pattern pattern;

    TunnelFailureCause(String text, String remedy, String pattern) {
        this.text = text;
        this.remedy = remedy;
        this.pattern = Pattern.compile(pattern);
    }

    /** Returns the cause that a line of charon's log reports, or null for another line. */
    public static @Nullable TunnelFailureCause of(String line) {
        for (TunnelFailureCause cause : values()) {
            if (cause.pattern.matcher(line).find()) {
                return cause;
            }
        }
        return null;
    }

    public String words() {
        return text;
    }

    public String remedy() {
        return remedy;
    }
}
