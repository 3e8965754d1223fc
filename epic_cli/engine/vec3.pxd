cdef extern from "vec3.h" namespace "epic" nogil:
    cdef cppclass Vec3[T]:
        T x
        T y
        T z
        Vec3()
        Vec3(T, T, T)
        Vec3[T] operator+(const Vec3[T]&)
        Vec3[T] operator-(const Vec3[T]&)
        Vec3[T] operator*(T)

    T dot[T](const Vec3[T]&, const Vec3[T]&)
    Vec3[T] cross[T](const Vec3[T]&, const Vec3[T]&)
    Vec3[double] widened(const Vec3[float]&)
    Vec3[float] narrowed(const Vec3[double]&)
