package org.cloister.protocol.link;

import com.google.protobuf.ByteString;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.identity.IdentityClause;

/**
 * Result of a renewal request: a certificate or a refusal; docs/protocol.md, section 8.
 *
 * @param certificate in DER, not parsed; empty if the request was refused
 * @param refused a clause of the registration authority, or a word of the relay; empty if there is a certificate
 */
public record RenewalResult(ByteString certificate, String refused) {
    /** Words of the relay. */
    public static final String NO_AUTHORITY = "no-desk";

    public static final String NO_ANSWER = "no-answer";
    public static final String LIMIT = "limit";
    public static final String NOT_ALLOWED = "not-allowed";
    /** Words of the registration authority if no clause applies. */
    public static final String MALFORMED = "malformed";

    public static final String FAILED = "failed";

    private static final Pattern WORD = Pattern.compile("[a-z]([a-z-]{0,30}[a-z])?");

    /** @throws IllegalArgumentException if there is neither a certificate nor a refusal, or both */
    public RenewalResult {
        if (certificate.isEmpty() == refused.isEmpty()) {
            throw new IllegalArgumentException("renewal: want a certificate or a refusal, have both or none");
        }
    }

    public static RenewalResult granted(byte[] certificate) {
        return new RenewalResult(ByteString.copyFrom(certificate), "");
    }

    public static RenewalResult refused(String word) {
        return new RenewalResult(ByteString.EMPTY, word);
    }

    public static RenewalResult refused(IdentityClause clause) {
        return refused(clause.toString());
    }

    public boolean isGranted() {
        return refused.isEmpty();
    }

    public static RenewalResult of(ByteString certificate, String refused) throws MalformedException {
        if (certificate.size() > ProtocolLimits.RENEWAL_CERTIFICATE_BYTES) {
            throw new MalformedException("renewal: want a certificate of at most "
                    + ProtocolLimits.RENEWAL_CERTIFICATE_BYTES + " bytes, have " + certificate.size());
        }
        if (!refused.isEmpty() && !WORD.matcher(refused).matches()) {
            throw new MalformedException(
                    "renewal: want a refusal of at most 32 of a-z and -, have " + StrictJson.quoted(refused));
        }
        try {
            return new RenewalResult(certificate, refused);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    /** Checks the size of a request, which only the registration authority reads. */
    static ByteString requireRequest(ByteString request) throws MalformedException {
        if (request.isEmpty() || request.size() > ProtocolLimits.RENEWAL_REQUEST_BYTES) {
            throw new MalformedException("renewal: want a request of 1 to " + ProtocolLimits.RENEWAL_REQUEST_BYTES
                    + " bytes, have " + request.size());
        }
        return request;
    }
}
