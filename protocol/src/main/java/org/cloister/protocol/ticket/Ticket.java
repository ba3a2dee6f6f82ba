package org.cloister.protocol.ticket;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.policy.ProjectPolicy;

/**
 * Project's request for nodes, signed by its controlling VM; docs/protocol.md, section 13. Its digest is that of the
 * payload as it was signed, {@link DsseEnvelope#payloadSha256}, not of the bytes that {@link #payload} would write
 * again.
 *
 * @param id also the Global job's name
 * @param epoch the controlling VM's, one higher at each of its boots
 * @param sequence one higher for each ticket of an epoch
 * @param issued by the controlling VM's clock
 * @param expires after which a relay no longer accepts it
 */
public record Ticket(
        String id,
        String project,
        long epoch,
        long sequence,
        Instant issued,
        Instant expires,
        ResourceRequest request) {
    public static final String TYPE = "application/vnd.cloister.ticket.v1+json";
    /** Limit in bytes of the payload, and of its envelope. */
    public static final int MAX_BYTES = 4 * 1024;

    public static final Pattern ID = Pattern.compile("[a-z2-7]{26}");
    /** Largest number that every JSON reader represents exactly. */
    public static final long MAX_COUNT = (1L << 53) - 1;

    public static final Duration LONGEST = Duration.ofHours(1);

    private static final String FORMAT = "cloister-ticket-v1";
    /** Type of an envelope that a later life of the controlling VM signed. */
    private static final Pattern TAKEN_OVER = Pattern.compile(Pattern.quote(TYPE) + ";epoch=([1-9][0-9]{0,15})");

    private static final int ID_BYTES = 16;

    /** @throws IllegalArgumentException if a value is out of its range; the text names the value and the range */
    public Ticket {
        require("id", id, ID);
        require("project", project, ProjectPolicy.PROJECT);
        requireCount("epoch", epoch);
        requireCount("sequence", sequence);
        issued = issued.truncatedTo(ChronoUnit.SECONDS);
        expires = expires.truncatedTo(ChronoUnit.SECONDS);
        requireTimes(issued, expires);
    }

    /** Returns an id of 128 random bits. */
    public static String newId(SecureRandom random) {
        byte[] bytes = new byte[ID_BYTES];
        random.nextBytes(bytes);
        return BinaryText.base32(bytes);
    }

    /**
     * Parses a ticket.
     *
     * @param payload of an envelope that was verified
     */
    public static Ticket parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        try {
            Ticket ticket = new Ticket(
                    json.text("id", ID),
                    json.text("project", ProjectPolicy.PROJECT),
                    json.number("epoch", 1, MAX_COUNT),
                    json.number("sequence", 1, MAX_COUNT),
                    json.time("issued"),
                    json.time("expires"),
                    ResourceRequest.read(json));
            json.requireNothingCritical();
            return ticket;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    public TicketPosition position() {
        return new TicketPosition(epoch, sequence);
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("id", id)
                .put("project", project)
                .put("epoch", epoch)
                .put("sequence", sequence)
                .put("issued", issued.toString())
                .put("expires", expires.toString());
        request.write(json);
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Signs the ticket.
     *
     * @param key the controlling VM's
     */
    public DsseEnvelope sign(SigningKey key) throws GeneralSecurityException {
        return DsseEnvelope.sign(TYPE, payload(), key);
    }

    /**
     * Signs the ticket by a later life of the controlling VM, which takes it over: the payload is unchanged, and the
     * type, which is signed too, states the later life's epoch.
     *
     * @param controllerEpoch the epoch of the life that signs; the ticket's own gives the result of
     *     {@link #sign(SigningKey)}
     */
    public DsseEnvelope sign(SigningKey key, long controllerEpoch) throws GeneralSecurityException {
        requireCount("life", controllerEpoch);
        if (controllerEpoch < epoch) {
            throw new IllegalArgumentException("life: want " + epoch + " or a later one, have " + controllerEpoch);
        }
        return DsseEnvelope.sign(controllerEpoch == epoch ? TYPE : TYPE + ";epoch=" + controllerEpoch, payload(), key);
    }

    /** Returns whether an envelope of this type holds a ticket, whichever life signed it. */
    public static boolean isType(String type) {
        return type.equals(TYPE) || TAKEN_OVER.matcher(type).matches();
    }

    /**
     * Returns the epoch of the life that signed an envelope of this ticket.
     *
     * @param type the envelope's
     * @throws MalformedException if the type is not a ticket's, or states a life that is not later than the ticket's
     *     own
     */
    public long controllerEpoch(String type) throws MalformedException {
        if (type.equals(TYPE)) {
            return epoch;
        }
        Matcher matcher = TAKEN_OVER.matcher(type);
        long signed = matcher.matches() ? Long.parseLong(matcher.group(1)) : 0;
        if (signed <= epoch || signed > MAX_COUNT) {
            throw new MalformedException("payloadType: want " + TYPE + ", or with an epoch after " + epoch + ", have "
                    + StrictJson.quoted(type));
        }
        return signed;
    }

    static void requireTimes(Instant issued, Instant expires) {
        if (!issued.isBefore(expires) || Duration.between(issued, expires).compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "expires: want a time up to " + LONGEST.toSeconds() + " s after " + issued + ", have " + expires);
        }
    }

    static void requireCount(String name, long value) {
        if (value < 1 || value > MAX_COUNT) {
            throw new IllegalArgumentException(name + ": want 1 to " + MAX_COUNT + ", have " + value);
        }
    }

    static void require(String name, String value, Pattern want) {
        if (!want.matcher(value).matches()) {
            throw new IllegalArgumentException(name + ": want " + want + ", have " + StrictJson.quoted(value));
        }
    }
}
