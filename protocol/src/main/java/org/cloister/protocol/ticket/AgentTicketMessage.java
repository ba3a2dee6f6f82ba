package org.cloister.protocol.ticket;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import java.util.List;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.link.CriticalFields;
import org.cloister.protocol.ticket.wire.FromParty;

/** Messages of a controlling VM, a host or a device on its ticket stream; docs/protocol.md, section 13. */
public sealed interface AgentTicketMessage {
    /**
     * Proves who sends the stream's messages; from a controlling VM, once and first.
     *
     * @param chain in DER, the leaf first
     * @param signed a {@link TicketStreamProof}
     */
    record Proof(List<ByteString> chain, ByteString signed) implements AgentTicketMessage {
        public Proof {
            chain = List.copyOf(chain);
        }
    }

    /**
     * Submits a ticket.
     *
     * @param ticket an envelope
     */
    record Submit(ByteString ticket) implements AgentTicketMessage {}

    /**
     * Withdraws a ticket.
     *
     * @param withdrawal an envelope
     */
    record Withdraw(ByteString withdrawal) implements AgentTicketMessage {}

    /** Queries the state of a ticket; from a device, that of an opening. */
    record QueryTicket(String ticket) implements AgentTicketMessage {}

    /**
     * Claims a slot; from a host that was called by its job step.
     *
     * @param job of Global Slurm, as the caller's cgroup has it
     */
    record Claim(String ticket, long job) implements AgentTicketMessage {}

    /**
     * Delivers a host's part of the receipt.
     *
     * @param statement a host's part of the receipt, an envelope
     */
    record Report(String ticket, int slot, ByteString statement) implements AgentTicketMessage {}

    /**
     * Tells why a VM of the ticket cannot run; from its host, which gets no answer.
     *
     * @param phase of the VM's start, the last that was reached or the one that failed: a label
     */
    record HostFault(String ticket, HostFaultCode code, String phase) implements AgentTicketMessage {}

    /**
     * Submits an opening; from a device.
     *
     * @param chain the opener's, in DER, the leaf first
     * @param opening an envelope
     */
    record Open(List<ByteString> chain, ByteString opening) implements AgentTicketMessage {
        public Open {
            chain = List.copyOf(chain);
        }
    }

    /**
     * Withdraws an opening; from a device.
     *
     * @param chain as of {@link Open}
     * @param withdrawal of an opening, an envelope
     */
    record Close(List<ByteString> chain, ByteString withdrawal) implements AgentTicketMessage {
        public Close {
            chain = List.copyOf(chain);
        }
    }

    record QueryQuota() implements AgentTicketMessage {}

    /** Queries the states of the project's openings; from a device. */
    record QueryOpenings() implements AgentTicketMessage {}

    /** Message of a later version, which the reader skips. */
    record UnknownMessage() implements AgentTicketMessage {}

    static AgentTicketMessage read(byte[] bytes) throws MalformedException {
        FromParty message;
        try {
            message = FromParty.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("message of a party: " + e.getMessage(), e);
        }
        CriticalFields.require(message.getCriticalList(), FromParty.FAULT_FIELD_NUMBER);
        return switch (message.getKindCase()) {
            case PROOF ->
                new Proof(message.getProof().getChainList(), message.getProof().getSigned());
            case ORDER -> new Submit(message.getOrder().getTicket());
            case WITHDRAW -> new Withdraw(message.getWithdraw().getWithdrawal());
            case ASK -> new QueryTicket(TicketFields.id(message.getAsk().getTicket()));
            case CLAIM ->
                new Claim(
                        TicketFields.id(message.getClaim().getTicket()),
                        TicketFields.job(message.getClaim().getJob()));
            case REPORT ->
                new Report(
                        TicketFields.id(message.getReport().getTicket()),
                        TicketFields.slot(message.getReport().getSlot()),
                        message.getReport().getStatement());
            case FAULT ->
                new HostFault(
                        TicketFields.id(message.getFault().getTicket()),
                        TicketFields.fault(message.getFault().getCode()),
                        TicketFields.label("phase", message.getFault().getPhase()));
            case ASK_QUOTA -> new QueryQuota();
            case ASK_OPENINGS -> new QueryOpenings();
            case OPEN ->
                new Open(message.getOpen().getChainList(), message.getOpen().getOpening());
            case CLOSE ->
                new Close(message.getClose().getChainList(), message.getClose().getWithdrawal());
            case KIND_NOT_SET -> new UnknownMessage();
        };
    }

    default FromParty wire() {
        FromParty.Builder message = FromParty.newBuilder();
        if (this instanceof Proof proof) {
            message.setProof(org.cloister.protocol.ticket.wire.Proof.newBuilder()
                    .addAllChain(proof.chain)
                    .setSigned(proof.signed));
        } else if (this instanceof Submit order) {
            message.setOrder(
                    org.cloister.protocol.ticket.wire.Order.newBuilder().setTicket(order.ticket));
        } else if (this instanceof Withdraw withdraw) {
            message.setWithdraw(
                    org.cloister.protocol.ticket.wire.Withdraw.newBuilder().setWithdrawal(withdraw.withdrawal));
        } else if (this instanceof QueryTicket ask) {
            message.setAsk(org.cloister.protocol.ticket.wire.Ask.newBuilder().setTicket(ask.ticket));
        } else if (this instanceof Claim claim) {
            message.setClaim(org.cloister.protocol.ticket.wire.Claim.newBuilder()
                    .setTicket(claim.ticket)
                    .setJob(claim.job));
        } else if (this instanceof Report report) {
            message.setReport(org.cloister.protocol.ticket.wire.Report.newBuilder()
                    .setTicket(report.ticket)
                    .setSlot(report.slot)
                    .setStatement(report.statement));
        } else if (this instanceof HostFault fault) {
            message.setFault(org.cloister.protocol.ticket.wire.Fault.newBuilder()
                    .setTicket(fault.ticket)
                    .setCode(fault.code.toString())
                    .setPhase(fault.phase));
        } else if (this instanceof QueryQuota) {
            message.setAskQuota(org.cloister.protocol.ticket.wire.AskQuota.getDefaultInstance());
        } else if (this instanceof QueryOpenings) {
            message.setAskOpenings(org.cloister.protocol.ticket.wire.AskOpenings.getDefaultInstance());
        } else if (this instanceof Open open) {
            message.setOpen(org.cloister.protocol.ticket.wire.Open.newBuilder()
                    .addAllChain(open.chain)
                    .setOpening(open.opening));
        } else if (this instanceof Close close) {
            message.setClose(org.cloister.protocol.ticket.wire.Close.newBuilder()
                    .addAllChain(close.chain)
                    .setWithdrawal(close.withdrawal));
        }
        return message.build();
    }
}
