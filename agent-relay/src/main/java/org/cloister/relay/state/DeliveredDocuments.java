package org.cloister.relay.state;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.cloister.base.encoding.BinaryText;
import org.cloister.base.encoding.Digest;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.base.file.ExclusiveLock;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.protocol.audit.AuditField;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.ProjectDocument;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.ProjectTrustBundle;

/**
 * Stores the documents that were delivered to the relay, each signed by a party with the right to issue it: project
 * documents, the site's approvals, revocation lists. A document is on disk before it takes effect; the relay's trust
 * store follows from the documents. One process at a time holds the folder. Thread-safe.
 */
public final class DeliveredDocuments implements AutoCloseable {
    private static final String PROJECTS = "projects";
    private static final String LISTS = "lists";
    private static final String APPROVAL = "approval.json";
    private static final byte DER_SEQUENCE = 0x30;

    private final Path folder;
    private final ExclusiveLock lock;
    private final Collection<VerificationKey> site;
    private final InstantSource clock;
    private final Map<String, ProjectHistory> projects = new ConcurrentHashMap<>();
    private final Map<String, StoredApproval> approvals = new ConcurrentHashMap<>();
    private final TrustStore trustStore;
    /**
     * Approval, valid or not, with its envelope.
     *
     * @param envelope the signed envelope as it was delivered
     */
    private record StoredApproval(ProjectApproval approval, ByteString envelope) {
        boolean isValidAt(Instant now) {
            return approval.isValidAt(now);
        }
    }

    /** Projects whose approvals were valid at the last check. */
    private Set<String> served;

    private DeliveredDocuments(Path folder, ExclusiveLock lock, Collection<VerificationKey> site, InstantSource clock)
            throws IOException {
        this.folder = folder;
        this.lock = lock;
        this.site = List.copyOf(site);
        this.clock = clock;
        Files.createDirectories(folder.resolve(LISTS));
        Files.createDirectories(folder.resolve(PROJECTS));
        for (Path project : entries(folder.resolve(PROJECTS))) {
            if (!deleteIfEmpty(project)) {
                readProject(project);
            }
        }
        this.served = served(clock.instant());
        this.trustStore = new TrustStore(anchors(clock.instant()), readLists(), clock);
    }

    /**
     * Opens the folder and acquires its lock.
     *
     * @param site the keys of the site CA
     */
    public static DeliveredDocuments open(Path folder, Collection<VerificationKey> site, InstantSource clock)
            throws IOException {
        ExclusiveLock lock = ExclusiveLock.acquire(folder.resolve("lock"), "state folder " + folder);
        try {
            return new DeliveredDocuments(folder, lock, site, clock);
        } catch (IOException | RuntimeException e) {
            lock.close();
            throw e;
        }
    }

    public TrustStore trustStore() {
        return trustStore;
    }

    /** Returns the project's approval if it is valid now. */
    public Optional<ProjectApproval> approval(String project) {
        return Optional.ofNullable(approvals.get(project))
                .filter(approved -> approved.isValidAt(clock.instant()))
                .map(StoredApproval::approval);
    }

    /** Returns the approvals of all projects that are valid now, by project id. */
    public List<ProjectApproval> approvals() {
        return projects.keySet().stream()
                .sorted()
                .flatMap(id -> approval(id).stream())
                .toList();
    }

    public int projects() {
        return (int) projects.keySet().stream()
                .filter(id -> approval(id).isPresent())
                .count();
    }

    /** Updates the trust store if an approval has started or ended since the last check. */
    public synchronized void refreshApprovals() {
        Instant now = clock.instant();
        if (!served(now).equals(served)) {
            applyAnchors(now);
        }
    }

    private void applyAnchors(Instant now) {
        served = served(now);
        trustStore.replaceAnchors(anchors(now));
    }

    private Set<String> served(Instant now) {
        return approvals.values().stream()
                .filter(approved -> approved.isValidAt(now))
                .map(approved -> approved.approval.project())
                .collect(Collectors.toSet());
    }

    /** Description of a stored document for people and for the audit log. */
    public record Stored(String text, AuditEvent event) {}

    /**
     * Stores a delivered document of any kind.
     *
     * @throws IOException if it is none of these documents, its signer may not issue it, it is older than the stored
     *     one, or it cannot be stored
     */
    public synchronized Stored store(byte[] delivered) throws IOException {
        if (delivered.length > 0 && delivered[0] == DER_SEQUENCE) {
            RevocationList list = storeList(delivered);
            return new Stored(
                    "revocation list " + list.number() + " of " + list.anchor() + ", valid until " + list.nextUpdate(),
                    event("revocations.taken")
                            .by(list.anchor().id())
                            .with(AuditField.DIGEST, digest(delivered))
                            .with(AuditField.COUNT, list.serials().size()));
        }
        String type = DsseEnvelope.parse(delivered, ProjectDocument.MAX_BYTES).payloadType();
        Stored stored = switch (type) {
            case ProjectDocument.GENESIS -> storeGenesis(delivered);
            case ProjectDocument.SUCCESSOR -> storeSuccessor(delivered);
            case ProjectApproval.TYPE -> storeApproval(delivered);
            default ->
                throw new MalformedException("delivery: want a project's document, an approval or a revocation list,"
                        + " have " + StrictJson.quoted(type));
        };
        applyAnchors(clock.instant());
        return stored;
    }

    private AuditEvent event(String kind) {
        return AuditEvent.of(clock.instant(), kind);
    }

    private static String digest(byte[] bytes) {
        return BinaryText.base32(Digest.sha256(bytes).bytes());
    }

    private Stored storeGenesis(byte[] envelope) throws IOException {
        ProjectHistory history = ProjectHistory.fromGenesis(envelope);
        if (!projects.containsKey(history.id())) {
            write(history, envelope);
        }
        return new Stored(
                "the genesis document of project " + history.id(),
                event("genesis.taken").with(AuditField.PROJECT, history.id()));
    }

    private Stored storeSuccessor(byte[] envelope) throws IOException {
        String project = ProjectHistory.claimedProject(envelope);
        ProjectHistory known = projects.get(project);
        if (known == null) {
            throw new MalformedException("successor document of project " + project
                    + ": the relay does not have the project's genesis document; deliver the documents in order");
        }
        ProjectHistory next = known.with(envelope);
        if (next != known) {
            write(next, envelope);
        }
        return new Stored(
                "document " + next.number() + " of project " + project,
                event("successor.taken").with(AuditField.PROJECT, project).with(AuditField.NUMBER, next.number()));
    }

    private void write(ProjectHistory project, byte[] newest) throws IOException {
        Path own = folder.resolve(PROJECTS).resolve(project.id());
        Files.createDirectories(own);
        AtomicFile.replace(own.resolve(documentName(project.number())), newest);
        projects.put(project.id(), project);
    }

    private Stored storeApproval(byte[] envelope) throws IOException {
        ProjectApproval approval = ProjectApproval.read(envelope, site);
        String subject = "approval " + approval.number() + " of project " + approval.project();
        if (!projects.containsKey(approval.project())) {
            throw new MalformedException(
                    subject + ": the relay does not have the project's documents; deliver its genesis document first");
        }
        StoredApproval before = approvals.get(approval.project());
        if (before != null && before.approval.number() >= approval.number() && !before.approval.equals(approval)) {
            throw new MalformedException(subject + ": the relay has number " + before.approval.number()
                    + " already; deliver the newest one");
        }
        AtomicFile.replace(folder.resolve(PROJECTS).resolve(approval.project()).resolve(APPROVAL), envelope);
        approvals.put(approval.project(), new StoredApproval(approval, ByteString.copyFrom(envelope)));
        return new Stored(
                subject + ", valid until " + approval.validUntil(),
                event("approval.taken")
                        .with(AuditField.PROJECT, approval.project())
                        .with(AuditField.NUMBER, approval.number())
                        .with(AuditField.ACCOUNT, approval.account()));
    }

    private RevocationList storeList(byte[] der) throws IOException {
        RevocationList list = RevocationList.read(der, anchorKeys());
        // It is checked before it is written, and again when it takes effect.
        trustStore.lists().with(list, clock.instant());
        AtomicFile.replace(folder.resolve(LISTS).resolve(list.anchor().id()), der);
        return trustStore.addRevocationList(list);
    }

    /**
     * Returns all that others need to verify this project as this relay does; the approval may have ended.
     *
     * @param anchor issuer of the revocation list to include, if known
     */
    public ProjectTrustBundle trustBundle(String project, Optional<VerificationKey> anchor) {
        ProjectHistory history = projects.get(project);
        StoredApproval approved = approvals.get(project);
        return new ProjectTrustBundle(
                history == null
                        ? List.of()
                        : history.envelopes().stream().map(ByteString::copyFrom).toList(),
                approved == null ? ByteString.EMPTY : approved.envelope,
                trustStore.lists().all().stream()
                        .filter(list -> anchor.filter(list.anchor()::equals).isPresent())
                        .map(list -> ByteString.copyFrom(list.bytes()))
                        .findFirst()
                        .orElse(ByteString.EMPTY));
    }

    /** Returns the revocation lists that concern the parties of this project; the site's lists concern all parties. */
    public List<RevocationList> revocationListsFor(String scope) {
        Collection<VerificationKey> keys = trustStore.anchors().of(scope);
        return trustStore.lists().all().stream()
                .filter(list -> keys.contains(list.anchor()))
                .toList();
    }

    /** Returns whether the list is the site's, or that of an owner of a project that matches {@code scope}. */
    public boolean concerns(RevocationList list, Predicate<String> scope) {
        return site.contains(list.anchor())
                || projects.values().stream()
                        .anyMatch(project -> project.ownerKeys().contains(list.anchor()) && scope.test(project.id()));
    }

    private TrustAnchors anchors(Instant now) {
        TrustAnchors anchors = TrustAnchors.none().withSite(site);
        for (Map.Entry<String, ProjectHistory> each : projects.entrySet()) {
            StoredApproval approved = approvals.get(each.getKey());
            if (approved != null && approved.isValidAt(now)) {
                anchors = anchors.withProject(each.getValue());
            }
        }
        return anchors;
    }

    /** Returns the keys of every known project, approved or not: a list may be delivered before the approval. */
    private Collection<VerificationKey> anchorKeys() {
        List<VerificationKey> keys = new ArrayList<>(site);
        projects.values().forEach(project -> keys.addAll(project.ownerKeys()));
        return keys;
    }

    /**
     * Deletes a folder without a document, which a kill between the two writes leaves; its delivery was never
     * confirmed.
     */
    private static boolean deleteIfEmpty(Path project) throws IOException {
        if (!Files.isDirectory(project) || !entries(project).isEmpty()) {
            return false;
        }
        Files.delete(project);
        return true;
    }

    private void readProject(Path project) throws IOException {
        List<byte[]> envelopes = new ArrayList<>();
        for (int n = 0; Files.exists(project.resolve(documentName(n))); n++) {
            envelopes.add(AtomicFile.read(project.resolve(documentName(n)), ProjectDocument.MAX_BYTES));
        }
        try {
            ProjectHistory history = ProjectHistory.of(envelopes);
            projects.put(history.id(), history);
            Path approval = project.resolve(APPROVAL);
            if (Files.exists(approval)) {
                byte[] envelope = AtomicFile.read(approval, ProjectApproval.MAX_BYTES);
                approvals.put(
                        history.id(),
                        new StoredApproval(ProjectApproval.read(envelope, site), ByteString.copyFrom(envelope)));
            }
        } catch (MalformedException | IdentityRefusedException e) {
            throw damaged(project, e);
        }
    }

    private RevocationLists readLists() throws IOException {
        RevocationLists lists = RevocationLists.none();
        for (Path file : entries(folder.resolve(LISTS))) {
            Collection<VerificationKey> keys = anchorKeys();
            if (keys.stream().noneMatch(key -> key.id().equals(String.valueOf(file.getFileName())))) {
                // The list of an owner whom a later document removed.
                continue;
            }
            try {
                lists = lists.kept(RevocationList.read(AtomicFile.read(file, RevocationList.MAX_BYTES), keys));
            } catch (MalformedException | IdentityRefusedException e) {
                throw damaged(file, e);
            }
        }
        return lists;
    }

    private static IOException damaged(Path what, IOException why) {
        return new IOException(
                what + ": " + why.getMessage()
                        + "; it was damaged after it was written: delete it and deliver it again",
                why);
    }

    private static String documentName(int number) {
        return "document-" + number + ".json";
    }

    /**
     * Lists a folder and deletes files that end in .new: they were being written when the machine stopped and were
     * never in force.
     */
    private static List<Path> entries(Path folder) throws IOException {
        List<Path> entries = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (String.valueOf(file.getFileName()).endsWith(".new")) {
                    Files.delete(file);
                } else {
                    entries.add(file);
                }
            }
        }
        return entries;
    }

    @Override
    public void close() throws IOException {
        lock.close();
    }
}
