package org.cloister.host.tickets;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.math.BigInteger;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.ProjectApproval;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;

/**
 * Verifies a project by the trust bundle that a relay sends: the documents prove each other, the site's approval admits
 * the project, and nothing may be older than what this host has seen; docs/protocol.md, section 13. Any thread may
 * call.
 *
 * @param trustStore has the site CA; verified projects are added to it
 */
public record ProjectVerifier(TrustStore trustStore, EpochStore epochs) {
    private static final String DELIVER = "deliver the newest ones to the relay with agentctl relay deliver";

    /**
     * Verifies a bundle. When it returns, its documents are recorded on disk, and the project's owners are trusted.
     *
     * @param subject for messages
     * @param project that the bundle must belong to
     * @return its documents, each verified
     * @throws TicketRefusedException with the first clause that denies
     */
    public ProjectHistory verify(String subject, String project, ProjectTrustBundle bundle) throws IOException {
        ProjectHistory history = history(subject, bundle);
        ProjectApproval approval = approval(subject, bundle);
        requireProject(subject, "documents", project, history.id());
        requireProject(subject, "an approval", project, approval.project());
        Optional<RevocationList> list = list(subject, bundle, history);
        // If two threads verify bundles of different ages, the older one must not replace the newer.
        synchronized (epochs) {
            epochs.recordDocuments(subject, history, approval, numbers(history, list));
            if (!approval.isValidAt(trustStore.now())) {
                throw new TicketRefusedException(
                        TicketClause.EXPIRED,
                        subject,
                        "an approval that is valid at " + trustStore.now(),
                        "number " + approval.number() + " from " + approval.validFrom() + " until "
                                + approval.validUntil(),
                        "the site no longer serves the project, or must renew the approval with agentctl site approve");
            }
            trustStore.replaceAnchors(trustStore.anchors().withProject(history));
            if (list.isPresent()) {
                addList(subject, list.get());
            }
        }
        return history;
    }

    /**
     * Verifies a signer's chain with the newest revocation list that this host has had.
     *
     * @throws TicketRefusedException with {@code signature}, or with {@code sequence} if the list is older than one
     *     that was seen
     */
    public CertifiedIdentity verifySigner(String subject, CertificateChain chain) throws IOException {
        try {
            CertifiedIdentity signer =
                    trustStore.verify(chain, Set.of(CertificateRole.CONTROLLER, CertificateRole.OPENER));
            VerificationKey owner = signer.anchor();
            BigInteger actual = currentList(owner).map(RevocationList::number).orElseThrow();
            BigInteger newest = epochs.marks(signer.name().project())
                    .map(marks -> marks.list(owner.id()))
                    .orElse(BigInteger.ONE.negate());
            if (actual.compareTo(newest) < 0) {
                throw new TicketRefusedException(
                        TicketClause.SEQUENCE,
                        subject,
                        "revocation list " + newest + " of " + owner + " or a later one",
                        actual.toString(),
                        DELIVER);
            }
            return signer;
        } catch (IdentityRefusedException e) {
            throw refused(subject, "a controlling VM or an opener of its project who is not revoked", e);
        }
    }

    private static ProjectHistory history(String subject, ProjectTrustBundle bundle) throws IOException {
        if (bundle.documentBytes() > ProjectTrustBundle.MAX_DOCUMENTS) {
            throw new TicketRefusedException(
                    TicketClause.LIMIT,
                    subject,
                    "documents of at most " + ProjectTrustBundle.MAX_DOCUMENTS + " bytes",
                    Long.toString(bundle.documentBytes()),
                    "have the owners create a new project");
        }
        try {
            return ProjectHistory.of(
                    bundle.documents().stream().map(ByteString::toByteArray).toList());
        } catch (IdentityRefusedException e) {
            throw refused(subject, "the project's documents", e);
        } catch (MalformedException e) {
            throw malformed(subject, "the project's documents, from the genesis on", e);
        }
    }

    private ProjectApproval approval(String subject, ProjectTrustBundle bundle) throws IOException {
        try {
            return ProjectApproval.read(
                    bundle.approval().toByteArray(), trustStore.anchors().of(CertificateName.SITE));
        } catch (IdentityRefusedException e) {
            throw refused(subject, "the site's approval", e);
        } catch (MalformedException e) {
            throw malformed(subject, "the site's approval", e);
        }
    }

    private static void requireProject(String subject, String kind, String expected, String actual)
            throws TicketRefusedException {
        if (!actual.equals(expected)) {
            throw new TicketRefusedException(
                    TicketClause.PROJECT,
                    subject,
                    kind + " of " + expected,
                    actual,
                    "the relay sent something that is for others; check the relay");
        }
    }

    private static Optional<RevocationList> list(String subject, ProjectTrustBundle bundle, ProjectHistory history)
            throws IOException {
        if (bundle.list().isEmpty()) {
            return Optional.empty();
        }
        try {
            return Optional.of(RevocationList.read(bundle.list().toByteArray(), history.ownerKeys()));
        } catch (IdentityRefusedException e) {
            throw refused(subject, "a revocation list of the project", e);
        } catch (MalformedException e) {
            throw malformed(subject, "a revocation list of the project", e);
        }
    }

    private Optional<RevocationList> currentList(VerificationKey owner) {
        return trustStore.lists().all().stream()
                .filter(list -> list.anchor().equals(owner))
                .findFirst();
    }

    /** Collects list numbers from the bundle and from lists that arrived on links before. */
    private Map<String, BigInteger> numbers(ProjectHistory history, Optional<RevocationList> list) {
        Map<String, BigInteger> numbers = new TreeMap<>();
        list.ifPresent(received -> numbers.put(received.anchor().id(), received.number()));
        for (VerificationKey owner : history.ownerKeys()) {
            currentList(owner)
                    .ifPresent(currentList -> numbers.merge(owner.id(), currentList.number(), BigInteger::max));
        }
        return numbers;
    }

    /** Adds the list, unless another relay has brought a newer one, which then decides. */
    private void addList(String subject, RevocationList list) throws IOException {
        if (currentList(list.anchor())
                .filter(currentList -> currentList.number().compareTo(list.number()) > 0)
                .isEmpty()) {
            try {
                trustStore.addRevocationList(list);
            } catch (IdentityRefusedException e) {
                throw refused(subject, "the project's newest revocation list", e);
            }
        }
    }

    private static TicketRefusedException refused(String subject, String expected, IdentityRefusedException why) {
        TicketClause clause = switch (why.clause()) {
            case PROJECT -> TicketClause.PROJECT;
            case NUMBER, FORK -> TicketClause.SEQUENCE;
            case LIST -> TicketClause.EXPIRED;
            default -> TicketClause.SIGNATURE;
        };
        return new TicketRefusedException(clause, subject, expected, String.valueOf(why.getMessage()), DELIVER);
    }

    private static TicketRefusedException malformed(String subject, String expected, MalformedException why) {
        return new TicketRefusedException(
                TicketClause.MALFORMED, subject, expected, String.valueOf(why.getMessage()), "check the relay");
    }
}
