package org.cloister.protocol.identity;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Signed statement of a site that it serves a project, with the account and the quota; docs/protocol.md, section 6.
 *
 * @param number of two approvals of a project the higher one applies
 * @param account charged by Global Slurm
 * @param features of Global Slurm's nodes, which tickets name by their position in this list
 */
public record ProjectApproval(
        String project,
        long number,
        String account,
        Instant validFrom,
        Instant validUntil,
        Quota quota,
        List<String> features) {
    public static final String TYPE = "application/vnd.cloister.approval.v1+json";
    public static final int MAX_BYTES = 16 * 1024;
    public static final Duration LONGEST = Duration.ofDays(366);

    private static final String FORMAT = "cloister-approval-v1";
    private static final Pattern ACCOUNT = Pattern.compile("[A-Za-z0-9_.-]{1,64}");
    private static final long MAX_MEMORY_MIB = 1L << 40;
    private static final int MAX_CPUS = 1 << 24;
    private static final int MAX_COUNT = 0xffff;
    /** Limit of tickets in flight if an approval states none. */
    private static final int TICKETS = 64;

    private static final int MAX_FEATURES = 32;
    private static final Pattern FEATURE = Pattern.compile("[A-Za-z0-9_.-]{1,64}");

    /**
     * Quota of the project at one time.
     *
     * @param tickets in flight: accepted and not ended
     */
    public record Quota(int nodes, int cpus, long memoryMiB, int vms, int circuits, int links, int tickets) {
        /** Creates a quota with the default limit of tickets in flight. */
        public Quota(int nodes, int cpus, long memoryMiB, int vms, int circuits, int links) {
            this(nodes, cpus, memoryMiB, vms, circuits, links, TICKETS);
        }

        public Quota {
            require("nodes", nodes, MAX_COUNT);
            require("cpus", cpus, MAX_CPUS);
            require("memoryMiB", memoryMiB, MAX_MEMORY_MIB);
            require("vms", vms, MAX_COUNT);
            require("circuits", circuits, MAX_COUNT);
            require("links", links, MAX_COUNT);
            require("tickets", tickets, MAX_COUNT);
        }

        private static Quota read(StrictJson json) throws MalformedException {
            Quota quota = new Quota(
                    (int) json.number("nodes", 0, MAX_COUNT),
                    (int) json.number("cpus", 0, MAX_CPUS),
                    json.number("memoryMiB", 0, MAX_MEMORY_MIB),
                    (int) json.number("vms", 0, MAX_COUNT),
                    (int) json.number("circuits", 0, MAX_COUNT),
                    (int) json.number("links", 0, MAX_COUNT),
                    json.has("tickets") ? (int) json.number("tickets", 0, MAX_COUNT) : TICKETS);
            json.requireNothingCritical();
            return quota;
        }

        private void write(ObjectNode json) {
            json.put("nodes", nodes)
                    .put("cpus", cpus)
                    .put("memoryMiB", memoryMiB)
                    .put("vms", vms)
                    .put("circuits", circuits)
                    .put("links", links);
            if (tickets != TICKETS) {
                json.put("tickets", tickets);
            }
        }
    }

    /** Creates an approval that maps no features. */
    public ProjectApproval(String project, long number, String account, Instant from, Instant until, Quota quota) {
        this(project, number, account, from, until, quota, List.of());
    }

    /** @throws IllegalArgumentException if a value is out of its range; the text names the value and the range */
    public ProjectApproval {
        if (!ProjectDocument.ID.matcher(project).matches()) {
            throw new IllegalArgumentException(
                    "project: want an id of 52 characters of base32, have " + StrictJson.quoted(project));
        }
        if (!ACCOUNT.matcher(account).matches()) {
            throw new IllegalArgumentException("account: want " + ACCOUNT + ", have " + StrictJson.quoted(account));
        }
        require("number", number - 1, Long.MAX_VALUE - 1);
        validFrom = validFrom.truncatedTo(ChronoUnit.SECONDS);
        validUntil = validUntil.truncatedTo(ChronoUnit.SECONDS);
        if (!validFrom.isBefore(validUntil)
                || Duration.between(validFrom, validUntil).compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("until: want a time up to " + LONGEST.toDays() + " days after "
                    + validFrom + ", have " + validUntil);
        }
        features = List.copyOf(features);
        requireFeatures(features);
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("project", project)
                .put("number", number)
                .put("account", account)
                .put("from", validFrom.toString())
                .put("until", validUntil.toString());
        quota.write(json.putObject("quota"));
        if (!features.isEmpty()) {
            ArrayNode list = json.putArray("features");
            features.forEach(list::add);
        }
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Verifies and parses an approval.
     *
     * @throws IdentityRefusedException if none of the site's keys signed it
     */
    public static ProjectApproval read(byte[] envelope, Collection<VerificationKey> site) throws IOException {
        try {
            return parse(DsseEnvelope.parse(envelope, MAX_BYTES).verify(TYPE, site, 1));
        } catch (EnvelopeRefusedException e) {
            throw new IdentityRefusedException(
                    IdentityClause.SIGNATURES,
                    "approval",
                    "a signature of the site as " + TYPE,
                    String.valueOf(e.getMessage()),
                    "ask the site for its own");
        }
    }

    static ProjectApproval parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        try {
            ProjectApproval approval = new ProjectApproval(
                    json.text("project", ProjectDocument.ID),
                    json.number("number", 1, Long.MAX_VALUE),
                    json.text("account", ACCOUNT),
                    json.time("from"),
                    json.time("until"),
                    Quota.read(json.object("quota")),
                    json.has("features") ? json.texts("features", MAX_FEATURES, FEATURE) : List.of());
            json.requireNothingCritical();
            return approval;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    public boolean isValidAt(Instant now) {
        return !now.isBefore(validFrom) && now.isBefore(validUntil);
    }

    private static void requireFeatures(List<String> features) {
        if (features.size() > MAX_FEATURES || Set.copyOf(features).size() < features.size()) {
            throw new IllegalArgumentException(
                    "features: want at most " + MAX_FEATURES + ", each once, have " + features.size());
        }
        for (String each : features) {
            if (!FEATURE.matcher(each).matches()) {
                throw new IllegalArgumentException("features: want " + FEATURE + ", have " + StrictJson.quoted(each));
            }
        }
    }

    private static void require(String name, long value, long max) {
        if (value < 0 || value > max) {
            throw new IllegalArgumentException(name + ": want 0 to " + max + ", have " + value);
        }
    }
}
