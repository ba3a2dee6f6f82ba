package org.cloister.protocol.policy;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Policy of a project's owners: the hosts, images and VMs that they accept; docs/protocol.md, section 12. An existing
 * object is consistent.
 *
 * @param serial higher than that of each earlier policy
 * @param until exclusive
 * @param images one has no end; the others overlap with it
 * @param releases number of hand-overs that may be made under this policy
 * @param loosens the requirements that this policy lowers, which it must name
 */
public record ProjectPolicy(
        String project,
        long serial,
        Instant from,
        Instant until,
        AssuranceLevel level,
        List<AcceptedHost> hosts,
        List<AcceptedImage> images,
        VmShape controllerLimit,
        VmShape workerLimit,
        HostSharing sharing,
        boolean workerEncryption,
        long releases,
        Set<PolicyRequirement> loosens) {
    public static final String TYPE = "application/vnd.cloister.policy.v1+json";
    public static final String FORMAT = "cloister-policy-v1";
    public static final int MAX_BYTES = 1 << 20;
    public static final int MAX_HOSTS = 4096;
    public static final int MAX_IMAGES = 8;
    /** Limits how long a relay that withholds a successor can keep this policy in use. */
    public static final Duration MAX_VALIDITY = Duration.ofDays(366);
    /** Limit of the time from the policy's start until the last earlier image is refused. */
    public static final Duration MAX_OVERLAP = Duration.ofDays(31);

    public static final long MAX_SERIAL = 1L << 53;
    public static final long MAX_RELEASES = 1_000_000;
    /** Pattern of a project's id: SHA-256 in base32. */
    public static final Pattern PROJECT = Pattern.compile("[a-z2-7]{51}[aq]");

    private static final Pattern REQUIRED_OR_OPTIONAL = Pattern.compile("required|optional");

    public ProjectPolicy {
        hosts = List.copyOf(hosts);
        images = List.copyOf(images);
        loosens = Set.copyOf(loosens);
    }

    /**
     * Returns the policy in an envelope that the owners signed.
     *
     * @throws IOException {@code EnvelopeRefusedException} if too few owners signed it or it is another document,
     *     {@link MalformedException} if it is not a policy
     */
    public static ProjectPolicy open(DsseEnvelope envelope, Collection<VerificationKey> owners, int threshold)
            throws IOException {
        return parse(envelope.verify(TYPE, owners, threshold));
    }

    /** Parses a payload that is signed already, or is about to be. */
    public static ProjectPolicy parse(byte[] payload) throws MalformedException {
        StrictJson json = StrictJson.read(payload, MAX_BYTES);
        json.requireFormat(FORMAT);
        List<AcceptedHost> hosts = new ArrayList<>();
        for (StrictJson host : json.objects("hosts", MAX_HOSTS)) {
            hosts.add(AcceptedHost.read(host));
        }
        List<AcceptedImage> images = new ArrayList<>();
        for (StrictJson image : json.objects("images", MAX_IMAGES)) {
            images.add(AcceptedImage.read(image));
        }
        StrictJson limits = json.object("limits");
        ProjectPolicy policy = new ProjectPolicy(
                json.text("project", PROJECT),
                json.number("serial", 1, MAX_SERIAL),
                json.time("from"),
                json.time("until"),
                AssuranceLevel.of(json.number("level", 0, AssuranceLevel.SEV_SNP.number())),
                hosts,
                images,
                VmShape.read(limits.object(VmRole.CONTROLLER.toString())),
                VmShape.read(limits.object(VmRole.WORKER.toString())),
                HostSharing.read(json, "sharing"),
                json.text("workerEncryption", REQUIRED_OR_OPTIONAL).equals("required"),
                json.number("releases", 1, MAX_RELEASES),
                PolicyRequirement.read(json, "loosens"));
        limits.requireNothingCritical();
        json.requireNothingCritical();
        policy.requireConsistent();
        return policy;
    }

    /** Returns the payload to sign. Verification always uses the received bytes, never these. */
    public byte[] json() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("format", FORMAT).put("project", project).put("serial", serial);
        json.put("from", from.toString()).put("until", until.toString()).put("level", level.number());
        ArrayNode hostList = json.putArray("hosts");
        hosts.forEach(host -> hostList.addObject()
                .put("name", host.name())
                .put("key", BinaryText.base64(host.key().encoded())));
        ArrayNode imageList = json.putArray("images");
        for (AcceptedImage image : images) {
            ObjectNode each =
                    imageList.addObject().put("identity", image.identity().hex());
            image.until().ifPresent(end -> each.put("until", end.toString()));
        }
        ObjectNode limits = json.putObject("limits");
        controllerLimit.write(limits.putObject(VmRole.CONTROLLER.toString()));
        workerLimit.write(limits.putObject(VmRole.WORKER.toString()));
        json.put("sharing", sharing.toString());
        json.put("workerEncryption", workerEncryption ? "required" : "optional");
        json.put("releases", releases);
        if (!loosens.isEmpty()) {
            ArrayNode list = json.putArray("loosens");
            loosens.stream().sorted().forEach(requirement -> list.add(requirement.toString()));
        }
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** Returns the policy's digest, by which circuits name it. */
    public static Digest hash(byte[] payload) {
        return Digest.sha384(payload);
    }

    public boolean isValid(Instant now) {
        return !now.isBefore(from) && now.isBefore(until);
    }

    public boolean accepts(VerificationKey host) {
        return hosts.stream().anyMatch(each -> each.key().equals(host));
    }

    public Optional<AcceptedImage> image(Digest identity) {
        return images.stream().filter(each -> each.identity().equals(identity)).findFirst();
    }

    public boolean accepts(Digest image, Instant now) {
        return image(image).filter(each -> each.isAccepted(now)).isPresent();
    }

    public VmShape limit(VmRole role) {
        return switch (role) {
            case CONTROLLER -> controllerLimit;
            case WORKER -> workerLimit;
        };
    }

    private void requireConsistent() throws MalformedException {
        if (!from.isBefore(until) || Duration.between(from, until).compareTo(MAX_VALIDITY) > 0) {
            throw new MalformedException("until: want a time after from, " + from + ", and within "
                    + MAX_VALIDITY.toDays() + " days, have " + until);
        }
        Set<Object> seen = new HashSet<>();
        for (AcceptedHost host : hosts) {
            if (!seen.add(host.name()) || !seen.add(host.key())) {
                throw new MalformedException(
                        "hosts: want every name and every key once, have " + host.name() + " again");
            }
        }
        for (AcceptedImage image : images) {
            if (!seen.add(image.identity())) {
                throw new MalformedException("images: want every identity once, have " + image.identity() + " twice");
            }
            Instant end = image.until().orElse(until);
            if (image.until().isPresent() && (!end.isAfter(from) || end.isAfter(from.plus(MAX_OVERLAP)))) {
                throw new MalformedException("images: want " + image.identity().abbreviated() + " until a time after "
                        + from + " and within " + MAX_OVERLAP.toDays() + " days of it, have " + end);
            }
        }
        long current = images.stream().filter(image -> image.until().isEmpty()).count();
        if (current != 1) {
            throw new MalformedException("images: want one without until, have " + current);
        }
    }
}
