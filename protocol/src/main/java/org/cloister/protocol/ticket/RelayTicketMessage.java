package org.cloister.protocol.ticket;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.json.StrictJson;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.link.CriticalFields;
import org.cloister.protocol.ticket.wire.FromOffice;

/** Messages of the relay on a ticket stream; docs/protocol.md, section 13. Envelopes in them are not parsed. */
public sealed interface RelayTicketMessage {
    /**
     * Requests a {@link TicketStreamProof}; to a controlling VM, first.
     *
     * @param nonce 32 random bytes
     * @param relay its name, which the VM compares with the relay that it expects
     */
    record Challenge(ByteString nonce, String relay) implements RelayTicketMessage {}

    /**
     * Accepts the stream.
     *
     * @param head the newest of the relay's audit log
     * @param chain the relay's own in DER, the leaf first, for a controlling VM, which has no link with it; empty for
     *     others
     */
    record Welcome(ByteString head, List<ByteString> chain) implements RelayTicketMessage {
        /** @throws IllegalArgumentException if the chain is too long */
        public Welcome {
            chain = List.copyOf(chain);
            requireChain("welcome", chain);
        }
    }

    /**
     * Reports the state of a ticket.
     *
     * @param end why it ended, if it has
     * @param text for people
     * @param job of Global Slurm; 0 while there is none
     * @param allocation empty while there is none
     */
    record Update(
            String ticket,
            TicketState state,
            Optional<TicketEnd> end,
            String text,
            long job,
            ByteString allocation,
            ByteString head)
            implements RelayTicketMessage {
        /** @throws IllegalArgumentException if an ended ticket has no reason, or one that has not ended has a reason */
        public Update {
            if ((state == TicketState.ENDED) != end.isPresent()) {
                throw new IllegalArgumentException("update: want an end with the state ended alone, have " + state);
            }
        }
    }

    /**
     * Refuses a request.
     *
     * @param ticket empty if it could not be read
     * @param text for people
     * @param newestEpoch the highest that the relay ever accepted, if an opening is refused for its epoch; otherwise 0
     */
    record Refused(String ticket, TicketClause clause, String text, long newestEpoch) implements RelayTicketMessage {
        /** @throws IllegalArgumentException if the epoch is out of range, or is given with another clause */
        public Refused {
            if (newestEpoch < 0 || newestEpoch > Ticket.MAX_COUNT) {
                throw new IllegalArgumentException(
                        "refusal: want a newest epoch of 0 to 2^53, have " + Long.toUnsignedString(newestEpoch));
            }
            if (newestEpoch != 0 && clause != TicketClause.SEQUENCE) {
                throw new IllegalArgumentException(
                        "refusal: want a newest epoch with the clause sequence alone, have one with " + clause);
            }
        }

        public Refused(String ticket, TicketClause clause, String text) {
            this(ticket, clause, text, 0);
        }
    }

    /** Answers a host's claim; the host verifies it against its own records. */
    record Claimed(
            ByteString ticket,
            List<ByteString> chain,
            ByteString allocation,
            ByteString head,
            ProjectTrustBundle project)
            implements RelayTicketMessage {
        public Claimed {
            chain = List.copyOf(chain);
        }
    }

    /** Confirms that a host's part of the receipt is on the relay's disk. */
    record StatementStored(String ticket, int slot, ByteString head) implements RelayTicketMessage {}

    /**
     * Forwards a host's part of the receipt to the controlling VM.
     *
     * @param chain the host's in DER, the leaf first; empty if the part was received before relays stored the chain
     */
    record ForwardedStatement(String ticket, int slot, ByteString statement, List<ByteString> chain)
            implements RelayTicketMessage {
        /** @throws IllegalArgumentException if the chain is too long */
        public ForwardedStatement {
            chain = List.copyOf(chain);
            requireChain("part", chain);
        }
    }

    /**
     * Tells a controlling VM why a host cannot run a VM of its ticket.
     *
     * @param phase as of {@link AgentTicketMessage.HostFault}
     * @param host id of the host
     */
    record HostFault(String ticket, int slot, HostFaultCode code, String phase, String host)
            implements RelayTicketMessage {}

    /**
     * Reports the states of a project's openings, the newest first.
     *
     * @param epoch the highest of any that the relay ever accepted; 0 if it accepted none
     */
    record Openings(long epoch, List<OpeningStatus> openings) implements RelayTicketMessage {
        public Openings {
            openings = List.copyOf(openings);
        }
    }

    /** Reports a project's quota and usage; shares are in the order of the approval's quota. */
    record Quota(String account, Instant validUntil, List<Share> shares) implements RelayTicketMessage {
        public Quota {
            shares = List.copyOf(shares);
        }
    }

    /**
     * Usage and limit of one resource.
     *
     * @param most limit at one time
     */
    record Share(String name, long used, long most) {}

    /** Message of a later version, which the reader skips. */
    record UnknownMessage() implements RelayTicketMessage {}

    static RelayTicketMessage read(byte[] bytes) throws MalformedException {
        FromOffice message;
        try {
            message = FromOffice.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("message of the relay: " + e.getMessage(), e);
        }
        CriticalFields.require(message.getCriticalList(), FromOffice.HOST_FAULT_FIELD_NUMBER);
        return switch (message.getKindCase()) {
            case CHALLENGE -> challenge(message.getChallenge());
            case WELCOME -> welcome(message.getWelcome());
            case UPDATE -> update(message.getUpdate());
            case REFUSED -> refused(message.getRefused());
            case CLAIMED -> claimed(message.getClaimed());
            case REPORTED ->
                new StatementStored(
                        TicketFields.id(message.getReported().getTicket()),
                        TicketFields.slot(message.getReported().getSlot()),
                        message.getReported().getHead());
            case PART -> part(message.getPart());
            case HOST_FAULT -> fault(message.getHostFault());
            case OPENINGS -> OpeningStatus.readAll(message.getOpenings());
            case QUOTA -> quota(message.getQuota());
            case KIND_NOT_SET -> new UnknownMessage();
        };
    }

    default FromOffice wire() {
        FromOffice.Builder message = FromOffice.newBuilder();
        if (this instanceof Challenge challenge) {
            message.setChallenge(org.cloister.protocol.ticket.wire.Challenge.newBuilder()
                    .setNonce(challenge.nonce)
                    .setRelay(challenge.relay));
        } else if (this instanceof Welcome welcome) {
            message.setWelcome(org.cloister.protocol.ticket.wire.Welcome.newBuilder()
                    .setHead(welcome.head)
                    .addAllChain(welcome.chain));
        } else if (this instanceof Update update) {
            message.setUpdate(org.cloister.protocol.ticket.wire.Update.newBuilder()
                    .setTicket(update.ticket)
                    .setState(update.state.toString())
                    .setEnd(update.end.map(TicketEnd::toString).orElse(""))
                    .setText(TicketFields.printable(update.text))
                    .setJob(update.job)
                    .setAllocation(update.allocation)
                    .setHead(update.head));
        } else if (this instanceof Refused refused) {
            message.setRefused(org.cloister.protocol.ticket.wire.Refused.newBuilder()
                    .setTicket(refused.ticket)
                    .setClause(refused.clause.toString())
                    .setText(TicketFields.printable(refused.text))
                    .setNewestEpoch(refused.newestEpoch));
        } else if (this instanceof Claimed claimed) {
            message.setClaimed(org.cloister.protocol.ticket.wire.Claimed.newBuilder()
                    .setTicket(claimed.ticket)
                    .addAllChain(claimed.chain)
                    .setAllocation(claimed.allocation)
                    .setHead(claimed.head)
                    .setProject(org.cloister.protocol.ticket.wire.ProjectPapers.newBuilder()
                            .addAllDocuments(claimed.project.documents())
                            .setApproval(claimed.project.approval())
                            .setList(claimed.project.list())));
        } else if (this instanceof StatementStored reported) {
            message.setReported(org.cloister.protocol.ticket.wire.Reported.newBuilder()
                    .setTicket(reported.ticket)
                    .setSlot(reported.slot)
                    .setHead(reported.head));
        } else if (this instanceof ForwardedStatement part) {
            message.setPart(org.cloister.protocol.ticket.wire.Part.newBuilder()
                    .setTicket(part.ticket)
                    .setSlot(part.slot)
                    .setStatement(part.statement)
                    .addAllChain(part.chain));
        } else if (this instanceof HostFault fault) {
            message.setHostFault(org.cloister.protocol.ticket.wire.HostFault.newBuilder()
                    .setTicket(fault.ticket)
                    .setSlot(fault.slot)
                    .setCode(fault.code.toString())
                    .setPhase(fault.phase)
                    .setHost(fault.host));
        } else if (this instanceof Openings openings) {
            message.setOpenings(OpeningStatus.writeAll(openings));
        } else if (this instanceof Quota quota) {
            message.setQuota(quota(quota));
        }
        return message.build();
    }

    private static org.cloister.protocol.ticket.wire.Quota quota(Quota quota) {
        org.cloister.protocol.ticket.wire.Quota.Builder wire = org.cloister.protocol.ticket.wire.Quota.newBuilder()
                .setAccount(quota.account)
                .setUntil(quota.validUntil.getEpochSecond());
        quota.shares.forEach(share -> wire.addShares(org.cloister.protocol.ticket.wire.Share.newBuilder()
                .setName(share.name)
                .setUsed(share.used)
                .setMost(share.most)));
        return wire.build();
    }

    private static Challenge challenge(org.cloister.protocol.ticket.wire.Challenge challenge)
            throws MalformedException {
        if (challenge.getNonce().size() != TicketStreamProof.NONCE_BYTES) {
            throw new MalformedException("challenge: want " + TicketStreamProof.NONCE_BYTES + " bytes, have "
                    + challenge.getNonce().size());
        }
        return new Challenge(challenge.getNonce(), TicketFields.text(challenge.getRelay()));
    }

    private static Welcome welcome(org.cloister.protocol.ticket.wire.Welcome welcome) throws MalformedException {
        try {
            return new Welcome(welcome.getHead(), welcome.getChainList());
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static ForwardedStatement part(org.cloister.protocol.ticket.wire.Part part) throws MalformedException {
        try {
            return new ForwardedStatement(
                    TicketFields.id(part.getTicket()),
                    TicketFields.slot(part.getSlot()),
                    part.getStatement(),
                    part.getChainList());
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static HostFault fault(org.cloister.protocol.ticket.wire.HostFault fault) throws MalformedException {
        return new HostFault(
                TicketFields.id(fault.getTicket()),
                TicketFields.slot(fault.getSlot()),
                TicketFields.fault(fault.getCode()),
                TicketFields.label("phase", fault.getPhase()),
                TicketFields.label("host", fault.getHost()));
    }

    private static void requireChain(String message, List<ByteString> chain) {
        if (chain.size() > CertificateChain.MAX_CERTIFICATES) {
            throw new IllegalArgumentException(message + ": want at most " + CertificateChain.MAX_CERTIFICATES
                    + " certificates, have " + chain.size());
        }
        for (ByteString each : chain) {
            if (each.isEmpty() || each.size() > CertificateChain.MAX_CERTIFICATE) {
                throw new IllegalArgumentException(message + ": want certificates of 1 to "
                        + CertificateChain.MAX_CERTIFICATE + " bytes, have one of " + each.size());
            }
        }
    }

    private static Update update(org.cloister.protocol.ticket.wire.Update update) throws MalformedException {
        try {
            return new Update(
                    TicketFields.id(update.getTicket()),
                    TicketState.of(update.getState()).orElseThrow(() -> unknown("state", update.getState())),
                    update.getEnd().isEmpty()
                            ? Optional.empty()
                            : Optional.of(
                                    TicketEnd.of(update.getEnd()).orElseThrow(() -> unknown("end", update.getEnd()))),
                    TicketFields.text(update.getText()),
                    update.getJob() == 0 ? 0 : TicketFields.job(update.getJob()),
                    update.getAllocation(),
                    update.getHead());
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static Claimed claimed(org.cloister.protocol.ticket.wire.Claimed claimed) {
        return new Claimed(
                claimed.getTicket(),
                claimed.getChainList(),
                claimed.getAllocation(),
                claimed.getHead(),
                new ProjectTrustBundle(
                        claimed.getProject().getDocumentsList(),
                        claimed.getProject().getApproval(),
                        claimed.getProject().getList()));
    }

    private static Refused refused(org.cloister.protocol.ticket.wire.Refused refused) throws MalformedException {
        try {
            return new Refused(
                    refused.getTicket().isEmpty() ? "" : TicketFields.id(refused.getTicket()),
                    TicketClause.of(refused.getClause()).orElseThrow(() -> unknown("clause", refused.getClause())),
                    TicketFields.text(refused.getText()),
                    refused.getNewestEpoch());
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }

    private static Quota quota(org.cloister.protocol.ticket.wire.Quota quota) throws MalformedException {
        if (quota.getSharesCount() > TicketFields.MAX_SHARES) {
            throw new MalformedException(
                    "quota: want at most " + TicketFields.MAX_SHARES + " shares, have " + quota.getSharesCount());
        }
        List<Share> shares = new ArrayList<>();
        for (org.cloister.protocol.ticket.wire.Share share : quota.getSharesList()) {
            shares.add(new Share(TicketFields.text(share.getName()), share.getUsed(), share.getMost()));
        }
        return new Quota(TicketFields.text(quota.getAccount()), TicketFields.time(quota.getUntil()), shares);
    }

    private static MalformedException unknown(String what, String word) {
        return new MalformedException(what + ": want one of section 13, have " + StrictJson.quoted(word));
    }
}
