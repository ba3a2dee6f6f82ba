package org.cloister.protocol.ticket;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.policy.ProjectPolicy;

/**
 * Project's request for its controlling VM, signed by one of its openers; docs/protocol.md, section 13. Its digest is
 * that of the payload as it was signed.
 *
 * @param id also the Global job's name; no ticket has it
 * @param epoch the drive's: above that of every earlier opening
 * @param issued by the opener's clock
 * @param expires after which a relay no longer accepts it
 * @param drive the project's name for the drive, and its VM's
 * @param driveMib size of the drive if it is to be created where there is none; 0 if it must exist
 * @param minutes that the VM may run, without the site's allowances
 */
public record Opening(
        String id,
        String project,
        long epoch,
        Instant issued,
        Instant expires,
        String drive,
        int driveMib,
        int cpus,
        int memoryMib,
        int minutes) {
    public static final String TYPE = "application/vnd.cloister.opening.v1+json";
    /** Limit in bytes of the payload, and of its envelope, as for a ticket. */
    public static final int MAX_BYTES = Ticket.MAX_BYTES;

    /** Pattern of a label that no program parses as a number, because it is also the VM's host name. */
    public static final Pattern DRIVE = Pattern.compile("[a-z]([a-z0-9-]{0,30}[a-z0-9])?");

    private static final String FORMAT = "cloister-opening-v1";
    /** Refused as a drive's name, because every machine has this name. */
    private static final String LOCALHOST = "localhost";

    /** @throws IllegalArgumentException if a value is out of its range; the text names the value and the range */
    public Opening {
        Ticket.require("id", id, Ticket.ID);
        Ticket.require("project", project, ProjectPolicy.PROJECT);
        Ticket.requireCount("epoch", epoch);
        issued = issued.truncatedTo(ChronoUnit.SECONDS);
        expires = expires.truncatedTo(ChronoUnit.SECONDS);
        Ticket.requireTimes(issued, expires);
        Ticket.require("drive", drive, DRIVE);
        if (!isDrive(drive)) {
            throw new IllegalArgumentException("drive: want another name than " + drive);
        }
        require("driveMiB", driveMib, 0, ResourceRequest.MAX_MIB);
        require("cpus", cpus, 1, ResourceRequest.MAX_CPUS);
        require("memoryMiB", memoryMib, 1, ResourceRequest.MAX_MIB);
        require("minutes", minutes, 1, ResourceRequest.MAX_MINUTES);
    }

    /**
     * Parses an opening.
     *
     * @param payload of an envelope that was verified
     */
    public static Opening parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        try {
            Opening opening = new Opening(
                    json.text("id", Ticket.ID),
                    json.text("project", ProjectPolicy.PROJECT),
                    json.number("epoch", 1, Ticket.MAX_COUNT),
                    json.time("issued"),
                    json.time("expires"),
                    json.text("drive", DRIVE),
                    (int) json.number("driveMiB", 0, ResourceRequest.MAX_MIB),
                    (int) json.number("cpus", 1, ResourceRequest.MAX_CPUS),
                    (int) json.number("memoryMiB", 1, ResourceRequest.MAX_MIB),
                    (int) json.number("minutes", 1, ResourceRequest.MAX_MINUTES));
            json.requireNothingCritical();
            return opening;
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    /** Returns whether a project may name a drive so. */
    public static boolean isDrive(String label) {
        return DRIVE.matcher(label).matches() && !label.equals(LOCALHOST);
    }

    /**
     * Returns the name of the VM that has a drive: the same as that of the VM before it, so that clients of that one
     * find this one.
     */
    public static CertificateName controller(String drive, String project) {
        return new CertificateName(drive, CertificateRole.CONTROLLER.toString(), project);
    }

    /** Returns the name of its VM. */
    public CertificateName controller() {
        return controller(drive, project);
    }

    /** Returns a request for one node with one task of all CPUs. */
    public ResourceRequest request() {
        return new ResourceRequest(
                1, OptionalInt.of(1), cpus, OptionalInt.empty(), memoryMib, 0, false, minutes, List.of());
    }

    /** Returns the payload to sign. */
    public byte[] payload() {
        return JsonNodeFactory.instance
                .objectNode()
                .put("format", FORMAT)
                .put("id", id)
                .put("project", project)
                .put("epoch", epoch)
                .put("issued", issued.toString())
                .put("expires", expires.toString())
                .put("drive", drive)
                .put("driveMiB", driveMib)
                .put("cpus", cpus)
                .put("memoryMiB", memoryMib)
                .put("minutes", minutes)
                .toString()
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Signs the opening.
     *
     * @param key the opener's
     */
    public DsseEnvelope sign(SigningKey key) throws GeneralSecurityException {
        return DsseEnvelope.sign(TYPE, payload(), key);
    }

    private static void require(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(name + ": want " + min + " to " + max + ", have " + value);
        }
    }
}
