package org.cloister.protocol.ticket;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.policy.ProjectPolicy;

/**
 * Withdraws a project's ticket or opening, in any phase; docs/protocol.md, section 13. Repeating it has no further
 * effect.
 */
public record Withdrawal(String ticket, String project) {
    public static final String TYPE = "application/vnd.cloister.withdrawal.v1+json";
    /** Limit in bytes of the payload, and of its envelope. */
    public static final int MAX_BYTES = 2 * 1024;

    private static final String FORMAT = "cloister-withdrawal-v1";

    public Withdrawal {
        Ticket.require("ticket", ticket, Ticket.ID);
        Ticket.require("project", project, ProjectPolicy.PROJECT);
    }

    /**
     * Parses a withdrawal.
     *
     * @param payload of an envelope that was verified
     */
    public static Withdrawal parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        Withdrawal withdrawal =
                new Withdrawal(json.text("ticket", Ticket.ID), json.text("project", ProjectPolicy.PROJECT));
        json.requireNothingCritical();
        return withdrawal;
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("ticket", ticket)
                .put("project", project)
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Signs the withdrawal.
     *
     * @param key the controlling VM's; the opener's for an opening
     */
    public DsseEnvelope sign(SigningKey key) throws GeneralSecurityException {
        return DsseEnvelope.sign(TYPE, payload(), key);
    }
}
