package org.cloister.protocol.identity;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.regex.Pattern;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.StrictJson;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.EnvelopeRefused;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * A site's word that it serves a project, for which account and how much of it; docs/protocol.md, section 6.
 *
 * @param number of two approvals of a project the higher one holds
 * @param account charged by Global Slurm
 */
public record Approval(String project, long number, String account, Instant from, Instant until, Quota quota) {
    public static final String TYPE = "application/vnd.cloister.approval.v1+json";
    public static final int MAX_BYTES = 16 * 1024;
    public static final Duration LONGEST = Duration.ofDays(366);

    private static final String FORMAT = "cloister-approval-v1";
    private static final Pattern ACCOUNT = Pattern.compile("[A-Za-z0-9_.-]{1,64}");
    private static final long MAX_MEMORY_MIB = 1L << 40;
    private static final int MAX_CPUS = 1 << 24;
    private static final int MAX_COUNT = 0xffff;

    /** What the project may have at one time. */
    public record Quota(int nodes, int cpus, long memoryMiB, int vms, int circuits, int links) {
        public Quota {
            require("nodes", nodes, MAX_COUNT);
            require("cpus", cpus, MAX_CPUS);
            require("memoryMiB", memoryMiB, MAX_MEMORY_MIB);
            require("vms", vms, MAX_COUNT);
            require("circuits", circuits, MAX_COUNT);
            require("links", links, MAX_COUNT);
        }
    }

    /** @throws IllegalArgumentException if a value is out of its range; the text says which and the range */
    public Approval {
        if (!ProjectDocument.ID.matcher(project).matches()) {
            throw new IllegalArgumentException(
                    "project: want an id of 52 characters of base32, have " + StrictJson.quoted(project));
        }
        if (!ACCOUNT.matcher(account).matches()) {
            throw new IllegalArgumentException("account: want " + ACCOUNT + ", have " + StrictJson.quoted(account));
        }
        require("number", number - 1, Long.MAX_VALUE - 1);
        from = from.truncatedTo(ChronoUnit.SECONDS);
        until = until.truncatedTo(ChronoUnit.SECONDS);
        if (!from.isBefore(until) || Duration.between(from, until).compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException(
                    "until: want a time up to " + LONGEST.toDays() + " days after " + from + ", have " + until);
        }
    }

    /** The payload to sign. */
    public byte[] payload() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("project", project)
                .put("number", number)
                .put("account", account)
                .put("from", from.toString())
                .put("until", until.toString());
        json.putObject("quota")
                .put("nodes", quota.nodes)
                .put("cpus", quota.cpus)
                .put("memoryMiB", quota.memoryMiB)
                .put("vms", quota.vms)
                .put("circuits", quota.circuits)
                .put("links", quota.links);
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** @throws IdentityRefused if none of the site's keys signed it */
    public static Approval read(byte[] envelope, Collection<VerificationKey> site) throws IOException {
        try {
            return parse(Envelope.parse(envelope, MAX_BYTES).verify(TYPE, site, 1));
        } catch (EnvelopeRefused e) {
            throw new IdentityRefused(
                    Clause.SIGNATURES,
                    "approval",
                    "a signature of the site as " + TYPE,
                    String.valueOf(e.getMessage()),
                    "ask the site for its own");
        }
    }

    static Approval parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        StrictJson quota = json.object("quota");
        try {
            Approval approval = new Approval(
                    json.text("project", ProjectDocument.ID),
                    json.number("number", 1, Long.MAX_VALUE),
                    json.text("account", ACCOUNT),
                    json.time("from"),
                    json.time("until"),
                    new Quota(
                            (int) quota.number("nodes", 0, MAX_COUNT),
                            (int) quota.number("cpus", 0, MAX_CPUS),
                            quota.number("memoryMiB", 0, MAX_MEMORY_MIB),
                            (int) quota.number("vms", 0, MAX_COUNT),
                            (int) quota.number("circuits", 0, MAX_COUNT),
                            (int) quota.number("links", 0, MAX_COUNT)));
            quota.requireNothingCritical();
            json.requireNothingCritical();
            return approval;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    public boolean holds(Instant now) {
        return !now.isBefore(from) && now.isBefore(until);
    }

    private static void require(String name, long value, long max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + ": want 0 to " + max + ", have " + value);
        }
    }
}
