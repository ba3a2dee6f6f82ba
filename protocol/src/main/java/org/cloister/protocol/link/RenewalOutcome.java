package org.cloister.protocol.link;

import com.google.protobuf.ByteString;
import java.util.regex.Pattern;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.identity.Clause;

/**
 * What became of a request for renewal; docs/protocol.md, section 8.
 *
 * @param certificate in DER, unread; empty where it was refused
 * @param refused a clause of the desk, or a word of the relay; empty where there is a certificate
 */
public record RenewalOutcome(ByteString certificate, String refused) {
    /** Words of the relay. */
    public static final String NO_DESK = "no-desk";

    public static final String NO_ANSWER = "no-answer";
    public static final String LIMIT = "limit";
    public static final String NOT_ALLOWED = "not-allowed";
    /** Words of the desk where no clause fits. */
    public static final String MALFORMED = "malformed";

    public static final String FAILED = "failed";

    private static final Pattern WORD = Pattern.compile("[a-z]([a-z-]{0,30}[a-z])?");

    /** @throws IllegalArgumentException if it is neither or both */
    public RenewalOutcome {
        if (certificate.isEmpty() == refused.isEmpty()) {
            throw new IllegalArgumentException("renewal: want a certificate or a refusal, have both or none");
        }
    }

    public static RenewalOutcome granted(byte[] certificate) {
        return new RenewalOutcome(ByteString.copyFrom(certificate), "");
    }

    public static RenewalOutcome refused(String word) {
        return new RenewalOutcome(ByteString.EMPTY, word);
    }

    public static RenewalOutcome refused(Clause clause) {
        return refused(clause.toString());
    }

    public boolean isGranted() {
        return refused.isEmpty();
    }

    static RenewalOutcome of(ByteString certificate, String refused) throws MalformedException {
        if (certificate.size() > LinkLimits.RENEWAL_CERTIFICATE_BYTES) {
            throw new MalformedException("renewal: want a certificate of at most "
                    + LinkLimits.RENEWAL_CERTIFICATE_BYTES + " bytes, have " + certificate.size());
        }
        if (!refused.isEmpty() && !WORD.matcher(refused).matches()) {
            throw new MalformedException(
                    "renewal: want a refusal of at most 32 of a-z and -, have " + StrictJson.quoted(refused));
        }
        try {
            return new RenewalOutcome(certificate, refused);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    /** What is asked with; only the desk reads it. */
    static ByteString requireRequest(ByteString request) throws MalformedException {
        if (request.isEmpty() || request.size() > LinkLimits.RENEWAL_REQUEST_BYTES) {
            throw new MalformedException("renewal: want a request of 1 to " + LinkLimits.RENEWAL_REQUEST_BYTES
                    + " bytes, have " + request.size());
        }
        return request;
    }
}
