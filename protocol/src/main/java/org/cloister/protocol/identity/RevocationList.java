package org.cloister.protocol.identity;

import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.security.cert.X509CRLEntry;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Signed list of an anchor with certificates that are revoked before their expiry. Immutable; uses the runtime's own
 * classes alone.
 */
public final class RevocationList {
    /** Limit of a list in bytes. */
    public static final int MAX_BYTES = 1 << 20;

    private static final String SUBJECT = "revocation list";
    private static final String CRL_NUMBER = "2.5.29.20";
    private static final String AUTHORITY_KEY = "2.5.29.35";
    private static final int MAX_NUMBER_BITS = 159;

    private static final int DIGEST_BITS = 256;
    /**
     * Bits of the digest in a key's number. The bit above them is set, so it never equals a serial number of 128 bits.
     */
    private static final int KEY_BITS = 158;

    private final VerificationKey anchor;
    private final BigInteger number;
    private final Instant from;
    private final Instant until;
    private final Set<BigInteger> serials;
    private final byte[] bytes;

    private RevocationList(
            VerificationKey anchor,
            BigInteger number,
            Instant from,
            Instant until,
            Set<BigInteger> serials,
            byte[] bytes) {
        this.anchor = anchor;
        this.number = number;
        this.from = from;
        this.until = until;
        this.serials = Set.copyOf(serials);
        this.bytes = bytes.clone();
    }

    /** Returns the anchor that signed it. */
    public VerificationKey anchor() {
        return anchor;
    }

    /** Returns the number; of two lists of one anchor the higher one applies. */
    public BigInteger number() {
        return number;
    }

    public Instant thisUpdate() {
        return from;
    }

    /** Returns the time at which the next list must exist. */
    public Instant nextUpdate() {
        return until;
    }

    /** Returns the serial numbers that it revokes. */
    public Set<BigInteger> serials() {
        return serials;
    }

    /** Returns how many of the serials are certificates' rather than keys' numbers. */
    public long certificates() {
        return serials.stream().filter(serial -> !serial.testBit(KEY_BITS)).count();
    }

    /**
     * Returns whether the list revokes the key itself, whichever certificates it had. This serves a caller that knows a
     * host by its key and sees none of its certificates, which change twice a day.
     */
    public boolean revokes(VerificationKey key) {
        return serials.contains(numberOf(key));
    }

    /**
     * Returns the number that a list contains for a revoked key, in place of a serial number: docs/protocol.md, section
     * 6.
     */
    public static BigInteger numberOf(VerificationKey key) {
        BigInteger digest = new BigInteger(1, Digest.sha256(key.encoded()).bytes());
        return digest.shiftRight(DIGEST_BITS - KEY_BITS).setBit(KEY_BITS);
    }

    /** Returns the list exactly as it was received, to be forwarded. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /**
     * Verifies and parses a list.
     *
     * @param der may come from anyone
     * @throws MalformedException if it is not a list of our profile
     * @throws IdentityRefusedException if none of the anchors signed it
     */
    public static RevocationList read(byte[] der, Collection<VerificationKey> anchors)
            throws MalformedException, IdentityRefusedException {
        X509CRL crl = parse(der);
        for (VerificationKey anchor : anchors) {
            if (isSignedBy(crl, anchor)) {
                return of(crl, anchor, der);
            }
        }
        throw new IdentityRefusedException(
                IdentityClause.ISSUER,
                SUBJECT,
                "a signature of an anchor: " + anchors,
                crl.getIssuerX500Principal().getName(),
                "ask the site or an owner for its own list");
    }

    /**
     * Returns the claimed issuer, only to distinguish issuers' lists where no issuer's key is known.
     *
     * @throws MalformedException if it is not a list
     */
    public static String claimedIssuer(byte[] der) throws MalformedException {
        X509CRL crl = parse(der);
        byte[] key = crl.getExtensionValue(AUTHORITY_KEY);
        return crl.getIssuerX500Principal().getName() + " "
                + (key == null ? "" : HexFormat.of().formatHex(key));
    }

    private static X509CRL parse(byte[] der) throws MalformedException {
        if (der.length > MAX_BYTES) {
            throw new MalformedException(SUBJECT + ": want at most " + MAX_BYTES + " bytes, have " + der.length);
        }
        try {
            if (der.length > 0 && der[0] == DerValue.SEQUENCE) {
                X509CRL crl =
                        (X509CRL) CertificateFactory.getInstance("X.509").generateCRL(new ByteArrayInputStream(der));
                if (Arrays.equals(crl.getEncoded(), der)) {
                    return crl;
                }
            }
        } catch (GeneralSecurityException e) {
            throw new MalformedException(
                    SUBJECT + ": not X.509: " + StrictJson.quoted(String.valueOf(e.getMessage())), e);
        }
        throw new MalformedException(SUBJECT + ": want DER and nothing behind it, have other bytes");
    }

    private static boolean isSignedBy(X509CRL crl, VerificationKey anchor) {
        if (!crl.getSigAlgName().equals(SignatureAlgorithms.of(anchor.curve()))) {
            return false;
        }
        try {
            crl.verify(anchor.publicKey());
            return true;
        } catch (GeneralSecurityException e) {
            return false;
        }
    }

    private static RevocationList of(X509CRL crl, VerificationKey anchor, byte[] der) throws MalformedException {
        Set<String> critical = crl.getCriticalExtensionOIDs();
        if (critical != null && !critical.isEmpty()) {
            throw new MalformedException(SUBJECT + ": want no critical extension, have " + critical);
        }
        byte[] extension = crl.getExtensionValue(CRL_NUMBER);
        if (extension == null || crl.getNextUpdate() == null) {
            throw new MalformedException(SUBJECT + ": want a number and the time of the next one, have none");
        }
        BigInteger number = number(extension);
        Instant from = crl.getThisUpdate().toInstant();
        Instant until = crl.getNextUpdate().toInstant();
        Duration longest = switch (anchor.curve()) {
            case P256 -> ValidityPeriod.SITE_LIST;
            case P384 -> ValidityPeriod.PROJECT_LIST;
        };
        if (Duration.between(from, until).compareTo(longest.plus(ValidityPeriod.SKEW)) > 0 || !from.isBefore(until)) {
            throw new MalformedException(
                    SUBJECT + ": want a life of at most " + longest.toHours() + " h, have " + from + " to " + until);
        }
        Set<? extends X509CRLEntry> entries = crl.getRevokedCertificates();
        Set<BigInteger> serials = entries == null
                ? Set.of()
                : entries.stream().map(X509CRLEntry::getSerialNumber).collect(Collectors.toSet());
        return new RevocationList(anchor, number, from, until, serials, der);
    }

    private static BigInteger number(byte[] extension) throws MalformedException {
        byte[] content = DerValue.read(
                        DerValue.read(extension, DerValue.OCTET_STRING).content(), DerValue.INTEGER)
                .content();
        BigInteger number = content.length == 0 ? BigInteger.ONE.negate() : new BigInteger(content);
        if (number.signum() < 0 || number.bitLength() > MAX_NUMBER_BITS) {
            throw new MalformedException(SUBJECT + ": want a number of at most 20 bytes from 0, have another");
        }
        return number;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RevocationList that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return SUBJECT + " " + number + " of " + anchor + " until " + until + " with " + serials.size();
    }
}
