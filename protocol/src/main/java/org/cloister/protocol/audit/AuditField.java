package org.cloister.protocol.audit;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Pattern;
import org.cloister.base.json.StrictJson;

/**
 * Fields that a record may have beside time, kind and key. A relay's log holds numbers, ids and names of the site; a
 * project's export log also holds names of the project. The set is closed and each field has a pattern or a range, so
 * that no secret fits into a record.
 */
public enum AuditField {
    ACCOUNT("account", "[A-Za-z0-9_.-]{1,64}"),
    ADDRESS("address", "[0-9.]{7,15}"),
    BYTES("bytes", 0, AuditField.MAX),
    CLAUSE("clause", AuditField.WORD),
    CONTROLLER("controller", AuditField.NAME),
    COUNT("count", 0, AuditField.MAX),
    CPUS("cpus", 0, 1 << 24),
    /** SHA-256 of the signed object's payload, in base32. */
    DIGEST("digest", AuditField.KEY),
    DRIVE("drive", "[a-z0-9-]{1,32}"),
    END("end", AuditField.WORD),
    EPOCH("epoch", 1, AuditField.MAX),
    GLOBAL_JOB("globalJob", 1, AuditField.MAX),
    HOST("host", AuditField.NAME),
    /** Login in the project. */
    LOGIN("login", "[a-z][a-z0-9_-]{0,30}"),
    MEMORY_MIB("memoryMiB", 0, 1L << 40),
    MINUTES("minutes", 1, 527_040),
    NETWORK("network", "[0-9.]{7,15}/[0-9]{1,2}"),
    NODE("node", "[A-Za-z0-9_.-]{1,64}"),
    NODES("nodes", 0, 1 << 16),
    /** Number of an approval or a revocation list. */
    NUMBER("number", 1, AuditField.MAX),
    OPENER("opener", AuditField.NAME),
    /** Path in printable characters, others escaped as in URLs; truncated to the limit, with its digest beside it. */
    PATH("path", "[!-~]{1,256}"),
    PERSON("person", AuditField.NAME),
    PROJECT("project", AuditField.KEY),
    /** Reason as Global Slurm words it. */
    REASON("reason", "[ -~]{1,128}"),
    SEQUENCE("sequence", 1, AuditField.MAX),
    /** Number of the session in the life of the VM. */
    SESSION("session", 1, AuditField.MAX),
    /** Id of the key that signs the heads that follow. */
    SIGNER("signer", AuditField.KEY),
    /** Time of the first event that a record counts. */
    SINCE("since", AuditField.TIME),
    SLOT("slot", 0, 1 << 16),
    STATE("state", AuditField.WORD),
    TICKET("ticket", "[a-z2-7]{26}"),
    /** Unix id of an operator. */
    USER("user", 0, 0xffff_ffffL),
    VERSION("version", "[A-Za-z0-9.+~-]{1,64}"),
    VLAN("vlan", 1, 4094);

    private static final String KEY = "[a-z2-7]{52}";
    private static final String NAME = "[a-z0-9.-]{1,253}";
    private static final String WORD = "[a-z]+(-[a-z]+){0,7}";
    private static final String TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z";
    private static final long MAX = (1L << 53) - 1;

    private final String member;
    private final Optional<Pattern> pattern;
    private final long least;
    private final long most;

    AuditField(String member, String pattern) {
        this.member = member;
        this.pattern = Optional.of(Pattern.compile(pattern));
        this.least = 0;
        this.most = 0;
    }

    AuditField(String member, long least, long most) {
        this.member = member;
        this.pattern = Optional.empty();
        this.least = least;
        this.most = most;
    }

    /** Returns the field's name in a record. */
    public String member() {
        return member;
    }

    static Optional<AuditField> of(String member) {
        return Arrays.stream(values())
                .filter(fact -> fact.member.equals(member))
                .findFirst();
    }

    /**
     * Checks a value.
     *
     * @throws IllegalArgumentException if the value does not match the field's pattern or range
     */
    void require(Object value) {
        if (pattern.isPresent()) {
            if (!(value instanceof String text)
                    || text.length() > AuditRecord.MAX_TEXT
                    || !pattern.get().matcher(text).matches()) {
                throw new IllegalArgumentException(
                        member + ": want " + pattern.get() + ", have " + StrictJson.quoted(value.toString()));
            }
        } else if (!(value instanceof Long number) || number < least || number > most) {
            throw new IllegalArgumentException(member + ": want " + least + " to " + most + ", have " + value);
        }
    }
}
