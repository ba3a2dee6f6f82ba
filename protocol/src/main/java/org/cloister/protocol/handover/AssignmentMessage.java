package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import java.util.List;
import java.util.Locale;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.wire.AssignmentAnswer;
import org.cloister.protocol.handover.wire.AssignmentQuestion;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.link.CriticalFields;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;

/** Messages about a VM's assignment between the VM and its host; docs/protocol.md, section 10. */
public sealed interface AssignmentMessage {
    MessageLite wire();

    /** The VM's request. */
    record Request() implements AssignmentMessage {
        @Override
        public AssignmentQuestion wire() {
            return AssignmentQuestion.getDefaultInstance();
        }
    }

    /** The host's response. */
    sealed interface Response extends AssignmentMessage {}

    /**
     * The assignment that the host has for the VM. Its values are consistent with each other; {@link VmAssignment}
     * verifies that the documents are the project's.
     *
     * @param name the VM's own, with its role and its project
     * @param ticket its id; for a controlling VM the opening's
     * @param requester name of the signer of the ticket or opening
     * @param documents of the project, genesis and successors in order, envelopes
     */
    record Assigned(
            CertificateName name, String ticket, int slot, CertificateName requester, List<ByteString> documents)
            implements Response {
        /** @throws IllegalArgumentException if a value is out of its range, or two values are inconsistent */
        public Assigned {
            documents = List.copyOf(documents);
            require("ticket", Ticket.ID.matcher(ticket).matches(), "26 characters of base32", "another text");
            require("slot", slot >= 0 && slot < ResourceRequest.MAX_NODES, "0 to 4095", Integer.toUnsignedString(slot));
            boolean worker = name.role().equals(CertificateRole.WORKER.toString());
            require(
                    "role",
                    worker || name.role().equals(CertificateRole.CONTROLLER.toString()),
                    "a worker or a controlling VM",
                    name.toString());
            if (worker) {
                String label = WorkerName.label(ticket, slot);
                require("name", name.id().equals(label), label, name.toString());
            } else {
                require("name", Opening.isDrive(name.id()), "a drive's name in front", name.toString());
            }
            require("slot of a controlling VM", worker || slot == 0, "0", Integer.toString(slot));
            CertificateRole asks = worker ? CertificateRole.CONTROLLER : CertificateRole.OPENER;
            require(
                    "requester",
                    requester.role().equals(asks.toString())
                            && requester.project().equals(name.project()),
                    "one of " + CertificateName.ofRole(asks.toString(), name.project()),
                    requester.toString());
            require(
                    "documents",
                    !documents.isEmpty() && documents.size() <= ProjectHistory.MAX_DOCUMENTS,
                    "1 to " + ProjectHistory.MAX_DOCUMENTS,
                    String.valueOf(documents.size()));
            long bytes = documents.stream().mapToLong(ByteString::size).sum();
            require(
                    "documents",
                    bytes <= ProjectTrustBundle.MAX_DOCUMENTS,
                    "at most " + ProjectTrustBundle.MAX_DOCUMENTS + " bytes",
                    bytes + " bytes");
        }

        private static void require(String what, boolean holds, String want, String have) {
            if (!holds) {
                throw new IllegalArgumentException("assignment: " + what + ": want " + want + ", have " + have);
            }
        }

        @Override
        public AssignmentAnswer wire() {
            return AssignmentAnswer.newBuilder()
                    .setAssignment(org.cloister.protocol.handover.wire.Assignment.newBuilder()
                            .setName(name.toString())
                            .setTicket(ticket)
                            .setSlot(slot)
                            .setRequester(requester.toString())
                            .addAllDocuments(documents))
                    .build();
        }
    }

    record Refused(RefusalReason reason) implements Response {
        @Override
        public AssignmentAnswer wire() {
            return AssignmentAnswer.newBuilder().setRefused(reason.toString()).build();
        }
    }

    /** Reasons why a host refuses an assignment. */
    enum RefusalReason {
        /** The host did not store the assignment when it created the VM; the refusal is permanent. */
        UNKNOWN,
        /** The last request was too recent or is still in progress; retry after a second. */
        BUSY,
        /** The stored assignment could not be read; retry after some seconds. */
        FAILED;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }

        static RefusalReason parse(String word) throws MalformedException {
            for (RefusalReason why : values()) {
                if (why.toString().equals(word)) {
                    return why;
                }
            }
            throw new MalformedException("assignment: refused: want unknown, busy or failed, have another word of "
                    + word.length() + " characters");
        }
    }

    /** Parses what a VM sent; the bytes may be arbitrary. */
    static Request readRequest(byte[] bytes) throws MalformedException {
        try {
            AssignmentQuestion message = AssignmentQuestion.parseFrom(bytes);
            CriticalFields.require(message.getCriticalList(), AssignmentQuestion.CRITICAL_FIELD_NUMBER);
            return new Request();
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("assignment asked for: " + e.getMessage(), e);
        }
    }

    /** Parses what a host sent; the bytes may be arbitrary. */
    static Response readResponse(byte[] bytes) throws MalformedException {
        AssignmentAnswer message;
        try {
            message = AssignmentAnswer.parseFrom(bytes);
        } catch (InvalidProtocolBufferException e) {
            throw new MalformedException("assignment: " + e.getMessage(), e);
        }
        CriticalFields.require(message.getCriticalList(), AssignmentAnswer.REFUSED_FIELD_NUMBER);
        return switch (message.getKindCase()) {
            case ASSIGNMENT -> parseAssigned(message.getAssignment());
            case REFUSED -> new Refused(RefusalReason.parse(message.getRefused()));
            case KIND_NOT_SET -> throw new MalformedException("assignment: want one or a refusal, have neither");
        };
    }

    private static Assigned parseAssigned(org.cloister.protocol.handover.wire.Assignment assignment)
            throws MalformedException {
        try {
            return new Assigned(
                    CertificateName.parse(assignment.getName()),
                    assignment.getTicket(),
                    assignment.getSlot(),
                    CertificateName.parse(assignment.getRequester()),
                    assignment.getDocumentsList());
        } catch (IllegalArgumentException e) {
            throw new MalformedException(e.getMessage(), e);
        }
    }
}
