package org.cloister.luks.volume;

import java.io.IOException;
import java.io.Serializable;

/** Failure of an operation on a volume. The message has subject, call, both values and remedy, and no key's bytes. */
public abstract sealed class VolumeException extends IOException {
    private static final long serialVersionUID = 1;

    private final Fault fault;

    private VolumeException(Fault fault, String expected, String actual, String remedy) {
        super(fault.subject() + ": " + fault.call() + ": want " + expected + ", have " + actual + "; " + remedy
                + fault.tail());
        this.fault = fault;
    }

    /**
     * Returns the function of libcryptsetup or of the C library that failed, or the one that was therefore not called.
     */
    public String call() {
        return fault.call();
    }

    /** Returns the device's path, the mapping's name or the library's. */
    public String subject() {
        return fault.subject();
    }

    /** Returns the positive errno; 0 if this module refused. */
    public int errno() {
        return fault.errno();
    }

    /** Returns the errno's name, such as {@code EBUSY}; empty where there is no errno. */
    public String errnoName() {
        return fault.errnoName();
    }

    /** Returns what libcryptsetup logged as errors during the call, verbatim; may be empty. */
    public String libraryMessage() {
        return fault.libraryMessage();
    }

    /** Details of a failed call. */
    record Fault(String call, String subject, int errno, String errnoName, String libraryMessage)
            implements Serializable {
        static Fault own(String call, Object subject) {
            return new Fault(call, subject.toString(), 0, "", "");
        }

        private String tail() {
            if (errno == 0) {
                return "";
            }
            return " (" + errnoName + (libraryMessage.isEmpty() ? "" : ": " + libraryMessage) + ")";
        }
    }

    /** libcryptsetup is not installed. Thrown when the library is loaded, before any volume is opened. */
    public static final class LibraryMissing extends VolumeException {
        private static final long serialVersionUID = 1;

        LibraryMissing(String library, String actual) {
            super(
                    Fault.own("load", library),
                    "the library",
                    actual,
                    "install libcryptsetup12 (Debian) or cryptsetup-libs (RPM)");
        }
    }

    /** The library of that name lacks a function. Thrown when the library is loaded. */
    public static final class LibraryTooOld extends VolumeException {
        private static final long serialVersionUID = 1;

        LibraryTooOld(String library, String function) {
            super(
                    Fault.own("load", library),
                    "libcryptsetup of cryptsetup 2.4 or newer",
                    "one without " + function,
                    "update libcryptsetup");
        }
    }

    /** The file or block device does not exist, or the process has no permission. */
    public static final class NoDevice extends VolumeException {
        private static final long serialVersionUID = 1;

        NoDevice(Fault fault) {
            super(fault, "a file or block device that may be read and written", "none", "check path and permissions");
        }
    }

    /** The device has no trace of a LUKS header. */
    public static final class NotLuks extends VolumeException {
        private static final long serialVersionUID = 1;

        NotLuks(Fault fault) {
            super(fault, "a LUKS2 header", "none", "check the path, or create the volume");
        }
    }

    /** The header has the older format, which has no second header, no tokens and no authenticated metadata. */
    public static final class Luks1 extends VolumeException {
        private static final long serialVersionUID = 1;

        Luks1(Fault fault) {
            super(fault, "a LUKS2 header", "a LUKS1 header", "convert it with cryptsetup convert, if it is yours");
        }
    }

    /** Both copies of the header are damaged. */
    public static final class DamagedHeader extends VolumeException {
        private static final long serialVersionUID = 1;

        DamagedHeader(Fault fault) {
            super(fault, "one whole LUKS2 header", "parts of one", "restore a header backup, or erase it");
        }
    }

    /** The file ends within its header and key slots. */
    public static final class Truncated extends VolumeException {
        private static final long serialVersionUID = 1;

        Truncated(Fault fault, long needed, long actual) {
            super(
                    fault,
                    "more than " + needed + " bytes",
                    actual + " bytes",
                    "restore the file from a copy, or erase it");
        }
    }

    /** The device has no room for a header and data. */
    public static final class TooSmall extends VolumeException {
        private static final long serialVersionUID = 1;

        TooSmall(Fault fault, long needed, long actual) {
            super(fault, "at least " + needed + " bytes", actual + " bytes", "make it larger");
        }
    }

    /** The device has a LUKS header already; creating another would lose the data that it protects. */
    public static final class AlreadyLuks extends VolumeException {
        private static final long serialVersionUID = 1;

        AlreadyLuks(Fault fault) {
            super(fault, "a device without LUKS header", "one with", "erase it first");
        }
    }

    /** The key's length is not one that this volume or slot can have. Nothing was tried. */
    public static final class WrongKeyLength extends VolumeException {
        private static final long serialVersionUID = 1;

        WrongKeyLength(Fault fault, String expected, int actual) {
            super(fault, "a key of " + expected + " bytes", actual + " bytes", "see which key this is");
        }
    }

    /** The key opens no slot, or is not the volume key. */
    public static final class WrongKey extends VolumeException {
        private static final long serialVersionUID = 1;

        WrongKey(Fault fault) {
            super(fault, "a key of this volume", "another", "see which key this is; it may have been removed");
        }
    }

    /** A process has the device open or mapped, or the mapping is mounted. */
    public static final class DeviceBusy extends VolumeException {
        private static final long serialVersionUID = 1;

        DeviceBusy(Fault fault) {
            super(fault, "exclusive use", "a device in use", "unmount and close what is on it (lsblk shows it)");
        }
    }

    /** A mapped device of that name exists. */
    public static final class NameInUse extends VolumeException {
        private static final long serialVersionUID = 1;

        NameInUse(Fault fault) {
            super(fault, "a free name", "one in use", "close that mapping, or choose another name");
        }
    }

    /** The file system that contains a volume's file is full. Nothing was written. */
    public static final class DiskFull extends VolumeException {
        private static final long serialVersionUID = 1;

        DiskFull(Fault fault, long needed) {
            super(fault, needed + " bytes for the header", "less on its file system", "make room");
        }
    }

    /** The kernel has no device-mapper, or this process may not use it. */
    public static final class DeviceMapperMissing extends VolumeException {
        private static final long serialVersionUID = 1;

        DeviceMapperMissing(Fault fault) {
            super(fault, "device-mapper", "none that answers", "load dm_mod and dm_crypt; run as root");
        }
    }

    /** The kernel did not report whether a mapping exists: device-mapper refused to, or failed. */
    public static final class MappingUnknown extends VolumeException {
        private static final long serialVersionUID = 1;

        MappingUnknown(Fault fault, int actual) {
            super(
                    fault,
                    "device-mapper's word on whether it is mapped",
                    "status " + actual,
                    "run as root; dmsetup info tells what is mapped, and the key may still be there");
        }
    }

    /** A token or label in the header is invalid. */
    public static final class BadMetadata extends VolumeException {
        private static final long serialVersionUID = 1;

        BadMetadata(Fault fault, String expected, String actual) {
            super(fault, expected, actual, "see cryptsetup luksDump");
        }
    }

    /** The header is not of the form that {@link Cryptsetup#create} makes. Nothing was mapped. */
    public static final class UnexpectedHeader extends VolumeException {
        private static final long serialVersionUID = 1;

        UnexpectedHeader(Fault fault, String expected, String actual) {
            super(
                    fault,
                    expected,
                    actual,
                    "write nothing to it: another program made this header, or the storage changed it");
        }
    }

    /** The kernel's mapping differs from the header's description. The mapping was removed. */
    public static final class UnexpectedMapping extends VolumeException {
        private static final long serialVersionUID = 1;

        UnexpectedMapping(Fault fault, String expected, String actual) {
            super(fault, expected, actual, "write nothing to it; dmsetup table shows what is mapped");
        }
    }

    /** The device could still be read or opened after an erasure. */
    public static final class NotErased extends VolumeException {
        private static final long serialVersionUID = 1;

        NotErased(Fault fault, String actual) {
            super(fault, "zeros where the header was", actual, "erase again; if that does not help destroy the disk");
        }
    }

    /** Any other call failed. */
    public static final class CallFailed extends VolumeException {
        private static final long serialVersionUID = 1;

        CallFailed(Fault fault) {
            super(
                    fault,
                    "success",
                    fault.errno() == 0 ? "none" : "errno " + fault.errno(),
                    "read the kernel's log about this device");
        }
    }
}
