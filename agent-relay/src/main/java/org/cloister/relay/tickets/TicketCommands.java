package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedOpening;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketRefusedException;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.TicketRow;

/**
 * Handles the requests of controlling VMs and openers: to accept a ticket or an opening, to withdraw it, and to report
 * its state.
 */
final class TicketCommands {
    static final String DRAINING = "draining";

    private final DeliveredDocuments documents;
    private final GroupCommitter commits;
    private final OpenTickets openTickets;
    private final TicketUpdates updates;
    private final TicketAdmission admission;
    private final TicketJobTracker jobTracker;
    private final TicketMetrics metrics;

    TicketCommands(
            DeliveredDocuments documents,
            GroupCommitter commits,
            OpenTickets openTickets,
            TicketUpdates updates,
            TicketAdmission admission,
            TicketJobTracker jobTracker,
            TicketMetrics metrics) {
        this.documents = documents;
        this.commits = commits;
        this.openTickets = openTickets;
        this.updates = updates;
        this.admission = admission;
        this.jobTracker = jobTracker;
        this.metrics = metrics;
    }

    void submitTicket(TicketPeer peer, List<ByteString> chain, ByteString envelope) {
        try {
            SignedTicket signed = SignedTicket.read(envelope.toByteArray(), peer.identity());
            commits.add(peer.payer(), admission.of(peer, new TicketAdmission.Submission(chain, envelope, signed)));
        } catch (TicketRefusedException e) {
            metrics.countRefusal(metrics.refused, e.clause());
            peer.answer(RefusalMessages.of("", e));
        }
    }

    /** Submits an opening from a device, with its person's chain. */
    void submitOpening(TicketPeer device, List<ByteString> chain, ByteString envelope) {
        try {
            CertifiedIdentity opener = opener(device, chain);
            SignedOpening signed = SignedOpening.read(envelope.toByteArray(), opener);
            commits.add(device.payer(), admission.of(device, new TicketAdmission.Submission(chain, envelope, signed)));
        } catch (TicketRefusedException e) {
            metrics.countRefusal(metrics.notOpened, e.clause());
            device.answer(RefusalMessages.of("", e));
        }
    }

    void withdrawOpening(TicketPeer device, List<ByteString> chain, ByteString envelope) {
        try {
            CertifiedIdentity opener = opener(device, chain);
            Withdrawal withdrawal = SignedOpening.readWithdrawal(envelope.toByteArray(), opener);
            commits.add(device.payer(), new WithdrawalChange(device, opener, withdrawal));
        } catch (TicketRefusedException e) {
            device.answer(RefusalMessages.of("", e));
        }
    }

    private CertifiedIdentity opener(TicketPeer device, List<ByteString> chain) throws TicketRefusedException {
        String subject = "request of " + device.identity().name();
        CertifiedIdentity opener;
        try {
            Optional<CertifiedIdentity> verified = device.verifiedChain(chain);
            if (verified.isPresent()) {
                // This stream has verified the chain already; only revocation or expiry may have changed.
                documents.trustStore().require(verified.get());
                return verified.get();
            }
            CertificateChain parsed = CertificateChain.parse(
                    chain.stream().map(ByteString::toByteArray).toList());
            requireOwn(device, subject, parsed.claimed());
            opener = documents.trustStore().verify(parsed, Set.of(CertificateRole.OPENER));
        } catch (IdentityRefusedException e) {
            throw new TicketRefusedException(
                    TicketClause.SIGNATURE,
                    subject,
                    "the chain of an opener",
                    String.valueOf(e.getMessage()),
                    "log in as an opener (agentctl project login), or have an owner grant the role");
        }
        device.rememberVerified(chain, opener);
        updateSignerChain(opener, chain);
        return opener;
    }

    /** Checks the claimed name before any signature is verified. */
    private static void requireOwn(TicketPeer device, String subject, CertificateName claimed)
            throws TicketRefusedException {
        if (!claimed.equals(device.signerName())) {
            throw new TicketRefusedException(
                    TicketClause.SIGNATURE,
                    subject,
                    "the chain of " + device.signerName(),
                    claimed.toString(),
                    "use the opener's own device");
        }
    }

    /**
     * Stores the newest certificates of a signer's key with its open tickets: a ticket may wait for longer than a
     * certificate is valid, and its hosts need valid certificates.
     */
    void updateSignerChain(CertifiedIdentity signer, List<ByteString> chain) {
        byte[] encoded = TicketRecords.encodeChain(chain);
        commits.add(TicketPeer.payer(signer.name()), records -> {
            for (TicketRuntimeState ticket : openTickets.all()) {
                boolean same = ticket.signer
                        .filter(before -> before.name().equals(signer.name())
                                && before.key().equals(signer.key())
                                && before.notAfter().isBefore(signer.notAfter()))
                        .isPresent();
                if (same && records.transaction().tickets().updateChain(ticket.id, encoded)) {
                    records.onCommitted(() -> ticket.signer = Optional.of(signer));
                }
            }
        });
    }

    void withdrawTicket(TicketPeer peer, ByteString envelope) {
        try {
            Withdrawal withdrawal = SignedTicket.readWithdrawal(envelope.toByteArray(), peer.identity());
            commits.add(peer.payer(), new WithdrawalChange(peer, peer.identity(), withdrawal));
        } catch (TicketRefusedException e) {
            peer.answer(RefusalMessages.of("", e));
        }
    }

    private final class WithdrawalChange implements GroupCommitter.Change {
        private final TicketPeer peer;
        private final CertifiedIdentity signer;
        private final Withdrawal withdrawal;

        WithdrawalChange(TicketPeer peer, CertifiedIdentity signer, Withdrawal withdrawal) {
            this.peer = peer;
            this.signer = signer;
            this.withdrawal = withdrawal;
        }

        @Override
        public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
            Optional<TicketRow> row = own(records.transaction(), peer.identity(), withdrawal.ticket());
            if (row.isEmpty()) {
                records.onCommitted(() -> peer.answer(RefusalMessages.unknown(
                        withdrawal.ticket(), peer.identity().name().project())));
                return;
            }
            if (records.transaction().tickets().recordWithdrawal(withdrawal.ticket())) {
                records.event(updates.event("ticket.withdrawn", row.get())
                        .by(signer.key().id()));
            }
            RelayTicketMessage.Update update = updates.update(records.transaction(), row.get());
            // Ends continue whether or not the log can be written.
            records.onCommitted(jobTracker::onWithdrawal);
            records.onAudited(() -> peer.answer(update));
        }

        @Override
        public void onFailure() {
            peer.answer(RefusalMessages.unavailable(withdrawal.ticket()));
        }
    }

    void sendStatus(TicketPeer peer, String ticket) {
        commits.add(peer.payer(), new GroupCommitter.Change() {
            @Override
            public void apply(GroupCommitter.Context records) throws RelayDatabaseException {
                Optional<TicketRow> row = own(records.transaction(), peer.identity(), ticket);
                if (row.isEmpty()) {
                    records.onCommitted(() -> peer.answer(RefusalMessages.unknown(
                            ticket, peer.identity().name().project())));
                    return;
                }
                RelayTicketMessage.Update update = updates.update(records.transaction(), row.get());
                List<RelayTicketMessage.ForwardedStatement> parts =
                        SlotClaims.statements(records.transaction(), ticket);
                records.onAudited(() -> {
                    peer.answer(update);
                    parts.forEach(part -> peer.sendUpdate(ticket + "/" + part.slot(), part));
                });
            }

            @Override
            public void onFailure() {
                peer.answer(RefusalMessages.unavailable(ticket));
            }
        });
    }

    /**
     * Returns the ticket if it is of the peer's project and kind: openings belong to openers, tickets to controlling
     * VMs.
     */
    private static Optional<TicketRow> own(RelayTransaction records, CertifiedIdentity who, String ticket)
            throws RelayDatabaseException {
        boolean opens = who.role() == CertificateRole.DEVICE;
        return records.tickets()
                .byId(ticket)
                .filter(row -> row.isOpening() == opens
                        && row.request().project().equals(who.name().project()));
    }
}
