package org.cloister.protocol.identity;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Owners of a project, and the number of them that must sign a change.
 *
 * @param threshold 1 to the number of owners
 */
public record ProjectOwners(int threshold, List<Owner> owners) {
    public static final int MIN = 2;
    public static final int MAX = 16;

    private static final int MAX_KEY = 256;

    /**
     * Owner with its key.
     *
     * @param id a label, the owner's in names
     */
    public record Owner(String id, VerificationKey key) {}

    /** @throws IllegalArgumentException if an id or a key occurs twice, or a number is out of its range */
    public ProjectOwners {
        owners = List.copyOf(owners);
        if (owners.size() < MIN || owners.size() > MAX) {
            throw new IllegalArgumentException("owners: want " + MIN + " to " + MAX + ", have " + owners.size());
        }
        if (threshold < 1 || threshold > owners.size()) {
            throw new IllegalArgumentException("threshold: want 1 to " + owners.size() + ", have " + threshold);
        }
        Set<Object> seen = new HashSet<>();
        for (Owner owner : owners) {
            if (!CertificateName.isLabel(owner.id())) {
                throw new IllegalArgumentException(
                        "owner: want an id of a-z, 0-9 and -, have " + StrictJson.quoted(owner.id()));
            }
            if (owner.key().curve() != SignatureCurve.P384) {
                throw new IllegalArgumentException("owner " + owner.id() + ": want a key of secp384r1, have "
                        + owner.key().curve().standardName());
            }
            if (!seen.add(owner.id()) || !seen.add(owner.key())) {
                throw new IllegalArgumentException(
                        "owner " + owner.id() + ": want each id and key once, have one twice");
            }
        }
    }

    public List<VerificationKey> keys() {
        return owners.stream().map(Owner::key).toList();
    }

    static ProjectOwners read(StrictJson json) throws MalformedException {
        List<Owner> owners = new ArrayList<>();
        for (StrictJson each : json.objects("owners", MAX)) {
            owners.add(new Owner(each.text("id"), VerificationKey.parse(each.base64("key", MAX_KEY))));
            each.requireNothingCritical();
        }
        try {
            return new ProjectOwners((int) json.number("threshold", 1, MAX), owners);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    void write(ObjectNode json) {
        json.put("threshold", threshold);
        var list = json.putArray("owners");
        for (Owner owner : owners) {
            list.addObject()
                    .put("id", owner.id())
                    .put("key", BinaryText.base64(owner.key().encoded()));
        }
    }
}
