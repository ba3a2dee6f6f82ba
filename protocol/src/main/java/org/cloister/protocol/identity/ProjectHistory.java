package org.cloister.protocol.identity;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.EnvelopeRefusedException;
import org.cloister.protocol.dsse.VerificationKey;

/**
 * Project's documents from its genesis to its newest successor, each signed by the required owners; docs/protocol.md,
 * section 5. Immutable: a holder replaces it by the result of {@link #with}, and so never goes back to an older one.
 */
public final class ProjectHistory {
    /** Limit of documents: a genesis and its successors. */
    public static final int MAX_DOCUMENTS = ProjectDocument.MAX_NUMBER + 1;

    private final List<byte[]> envelopes;
    private final ProjectDocument newest;
    /** Digests of the envelopes' payloads. */
    private final List<String> ids;

    private ProjectHistory(List<byte[]> envelopes, ProjectDocument newest, List<String> ids) {
        this.envelopes = List.copyOf(envelopes);
        this.newest = newest;
        this.ids = List.copyOf(ids);
    }

    /**
     * Verifies a genesis.
     *
     * @param genesis an envelope, which may come from anyone; the genesis itself names its required signers
     */
    public static ProjectHistory fromGenesis(byte[] genesis) throws IOException {
        DsseEnvelope envelope = DsseEnvelope.parse(genesis, ProjectDocument.MAX_BYTES);
        // A genesis names its own signers.
        ProjectDocument claimed = ProjectDocument.parseGenesis(envelope.unverifiedPayload());
        List<VerificationKey> keys = claimed.owners().keys();
        byte[] payload =
                verified(envelope, ProjectDocument.GENESIS, keys, keys.size(), "genesis of " + claimed.project());
        ProjectDocument document = ProjectDocument.parseGenesis(payload);
        return new ProjectHistory(List.of(genesis.clone()), document, List.of(document.project()));
    }

    /**
     * Verifies a sequence of documents.
     *
     * @param envelopes the genesis and its successors in order
     */
    public static ProjectHistory of(List<byte[]> envelopes) throws IOException {
        if (envelopes.isEmpty()) {
            throw new MalformedException("project: want a genesis document, have none");
        }
        ProjectHistory history = fromGenesis(envelopes.get(0));
        for (byte[] each : envelopes.subList(1, envelopes.size())) {
            history = history.with(each);
        }
        return history;
    }

    /**
     * Returns this history with a successor, or this object if it already has the successor.
     *
     * @throws IdentityRefusedException if the document is another project's, not the next one, a fork, or not signed by
     *     the required owners
     */
    public ProjectHistory with(byte[] successor) throws IOException {
        DsseEnvelope envelope = DsseEnvelope.parse(successor, ProjectDocument.MAX_BYTES);
        byte[] claim = envelope.unverifiedPayload();
        ProjectDocument claimed = ProjectDocument.parseSuccessor(claim);
        String subject = "successor " + claimed.number() + " of " + id();
        if (!claimed.project().equals(id())) {
            throw new IdentityRefusedException(
                    IdentityClause.PROJECT, subject, id(), claimed.project(), "look for that project's history");
        }
        if (claimed.number() != number() + 1) {
            if (claimed.number() <= number() && ids.get(claimed.number()).equals(ProjectDocument.idOf(claim))) {
                return this;
            }
            throw new IdentityRefusedException(
                    claimed.number() <= number() ? IdentityClause.FORK : IdentityClause.NUMBER,
                    subject,
                    "number " + (number() + 1),
                    "number " + claimed.number() + ", another document",
                    "deliver the documents in order; if two of one number were signed, ask the owners which holds");
        }
        if (!claimed.previous().equals(newestId())) {
            throw new IdentityRefusedException(
                    IdentityClause.FORK,
                    subject,
                    "a document after " + newestId(),
                    "one after " + claimed.previous(),
                    "ask the owners which of the two holds");
        }
        verified(envelope, ProjectDocument.SUCCESSOR, owners().keys(), owners().threshold(), subject);
        List<VerificationKey> added = claimed.owners().keys().stream()
                .filter(key -> !owners().keys().contains(key))
                .toList();
        if (!added.isEmpty()) {
            verified(envelope, ProjectDocument.SUCCESSOR, added, added.size(), subject + ", by its new owners");
        }
        List<byte[]> all = new ArrayList<>(envelopes);
        all.add(successor.clone());
        List<String> allIds = new ArrayList<>(ids);
        allIds.add(ProjectDocument.idOf(claim));
        return new ProjectHistory(all, claimed, allIds);
    }

    /** Returns the project that a document claims to succeed, only to find that project's history. */
    public static String claimedProject(byte[] successor) throws MalformedException {
        return ProjectDocument.parseSuccessor(
                        DsseEnvelope.parse(successor, ProjectDocument.MAX_BYTES).unverifiedPayload())
                .project();
    }

    /** Returns the payload of the next document, for the owners to sign. */
    public byte[] successor(ProjectOwners owners, Instant now) {
        return ProjectDocument.successor(id(), number() + 1, newestId(), owners, now);
    }

    /** Returns the project's id, the genesis' digest. */
    public String id() {
        return newest.project();
    }

    /** Returns the number of the newest document; 0 is the genesis. */
    public int number() {
        return newest.number();
    }

    public ProjectOwners owners() {
        return newest.owners();
    }

    public Collection<VerificationKey> ownerKeys() {
        return owners().keys();
    }

    /**
     * Returns the digest by which the next document names a document.
     *
     * @param number from 0 to {@link #number}
     */
    public String documentId(int number) {
        return ids.get(number);
    }

    private String newestId() {
        return ids.get(ids.size() - 1);
    }

    /** Returns the envelopes as they were received, in order. */
    public List<byte[]> envelopes() {
        return envelopes.stream().map(byte[]::clone).toList();
    }

    private static byte[] verified(
            DsseEnvelope envelope, String type, List<VerificationKey> keys, int threshold, String subject)
            throws IdentityRefusedException {
        try {
            return envelope.verify(type, keys, threshold);
        } catch (EnvelopeRefusedException e) {
            throw new IdentityRefusedException(
                    IdentityClause.SIGNATURES,
                    subject,
                    threshold + " signatures as " + type,
                    String.valueOf(e.getMessage()),
                    "have it signed by more owners");
        }
    }
}
